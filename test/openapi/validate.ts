// Whether a file is a valid OpenAPI document: exits with 1, and says why, where it isn't.
import SwaggerParser from "@apidevtools/swagger-parser";

await SwaggerParser.validate(process.argv[2] ?? "");
