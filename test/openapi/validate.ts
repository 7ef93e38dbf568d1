// Validates an OpenAPI document. Exits with 1 and prints the error if it is invalid.
import SwaggerParser from "@apidevtools/swagger-parser";

await SwaggerParser.validate(process.argv[2] ?? "");
