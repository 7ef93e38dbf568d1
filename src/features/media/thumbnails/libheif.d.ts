/** The part of libheif's C interface (libheif/heif.h), compiled to WebAssembly, that is used here. Pointers are numbers. */
declare module "libheif-js/libheif-wasm/libheif.js" {
  export interface LibHeif {
    /** The memory of the module; a new view after each call that may have grown it. */
    readonly HEAPU8: Uint8Array<ArrayBuffer>;
    _malloc(sizeBytes: number): number;
    _free(pointer: number): void;
    _heif_context_alloc(): number;
    _heif_context_free(context: number): void;
    _heif_context_set_maximum_image_size_limit(context: number, maximumWidth: number): void;
    _heif_context_read_from_memory(
      error: number,
      context: number,
      bytes: number,
      sizeBytes: number,
      options: number,
    ): void;
    _heif_context_get_primary_image_handle(error: number, context: number, handle: number): void;
    _heif_image_handle_release(handle: number): void;
    _heif_image_handle_get_width(handle: number): number;
    _heif_image_handle_get_height(handle: number): number;
    _heif_image_handle_get_raw_color_profile_size(handle: number): number;
    _heif_image_handle_get_raw_color_profile(error: number, handle: number, bytes: number): void;
    _heif_decode_image(
      error: number,
      handle: number,
      image: number,
      colorspace: number,
      chroma: number,
      options: number,
    ): void;
    _heif_image_get_width(image: number, channel: number): number;
    _heif_image_get_height(image: number, channel: number): number;
    _heif_image_get_plane_readonly2(image: number, channel: number, strideBytes: number): number;
    _heif_image_release(image: number): void;
  }
  /** Compiles and starts the module; returns at once with all of it. */
  export default function instantiate(options: { readonly wasmBinary: Uint8Array }): LibHeif;
}

declare module "libheif-js/libheif-wasm/libheif.wasm" {
  /** Path of the file, also inside the executable. */
  const path: string;
  export default path;
}
