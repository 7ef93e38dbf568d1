# syntax=docker/dockerfile:1
#
#   docker build -t larder .
#   docker run -d --name larder -p 127.0.0.1:8790:8790 -v larder:/data --read-only larder
#
# The last stage has no shell, no package manager and no libraries but the few that the executable and the image
# library load. `docker build --target video` is a larger image with ffmpeg, which makes thumbnails of videos.

# Builds the executable, with the version of Bun that package.json pins.
FROM node:22-bookworm-slim AS build
WORKDIR /src
# First what changes seldom, so that the packages stay in the cache of the builder.
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY scripts/ensure-bun.sh scripts/
RUN bash -c '. scripts/ensure-bun.sh'
COPY . .
RUN bash -c '. scripts/ensure-bun.sh && scripts/build'
# What the last stage consists of: the executable, and the C and C++ libraries that it and the embedded image library
# name (Debian's own, with the loader). `ldd` says which, so that this holds for every processor.
RUN mkdir -p /rootfs/data /rootfs/etc /rootfs/usr/share/doc/larder \
    && install -D -m 755 dist/larder /rootfs/usr/local/bin/larder \
    && cp LICENSE NOTICES.md /rootfs/usr/share/doc/larder/ \
    && { ldd dist/larder; find node_modules/@img -name '*.node' -not -path '*musl*' -exec ldd {} +; } \
       | awk '/=> \// { print $3 } $1 ~ /^\/lib.*ld-linux/ { print $1 }' | grep -v node_modules | sort -u \
       | xargs -I{} cp --parents --dereference {} /rootfs/ \
    && printf 'larder:x:10001:10001::/data:/sbin/nologin\n' > /rootfs/etc/passwd \
    && printf 'larder:x:10001:\n' > /rootfs/etc/group \
    # Any --user may begin a new volume; what is made in it is for that user alone.
    && chown 10001:10001 /rootfs/data && chmod 1777 /rootfs/data

# The same with ffmpeg. Only made when asked for by --target video.
FROM debian:bookworm-slim AS video
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ffmpeg \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /rootfs/data /data
COPY --from=build /rootfs/usr/local/bin/larder /usr/local/bin/larder
COPY --from=build /rootfs/usr/share/doc/larder /usr/share/doc/larder
ENV LARDER_DATA=/data LARDER_HOST=0.0.0.0 LARDER_PORT=8790
USER 10001:10001
VOLUME /data
WORKDIR /data
EXPOSE 8790
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["/usr/local/bin/larder", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/larder"]
CMD ["serve"]

# FROM scratch and not a ready "distroless" base: it is the same set of files, taken from the Debian that built them,
# and there is no further image to trust and to follow.
FROM scratch
COPY --from=build /rootfs /
# User and paths are a promise that no upgrade changes; another user is set from outside (--user 1000:1000).
ENV LARDER_DATA=/data LARDER_HOST=0.0.0.0 LARDER_PORT=8790
USER 10001:10001
VOLUME /data
WORKDIR /data
EXPOSE 8790
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["/usr/local/bin/larder", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/larder"]
CMD ["serve"]
