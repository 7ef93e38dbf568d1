# syntax=docker/dockerfile:1
#
#   docker build -t larder .
#   docker run -d --name larder -p 127.0.0.1:8790:8790 -v larder:/data --read-only larder
#
# The final image has no shell and no package manager, only the executable and the libraries that it needs. For a larger
# image with ffmpeg, which creates thumbnails of videos: docker build --target video
# With Litestream, which replicates the database: docker build --target ha

# Builds the executable with the Bun version pinned in package.json.
FROM node:22-bookworm-slim AS build
WORKDIR /src
# Files that rarely change come first, so that the packages stay in the build cache.
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY scripts/ensure-bun.sh scripts/
RUN bash -c '. scripts/ensure-bun.sh'
COPY . .
RUN bash -c '. scripts/ensure-bun.sh && scripts/build'
# Collects the files of the final image: the executable, and the Debian libraries that it and the embedded image library
# load. `ldd` lists them, so this works for every processor architecture.
RUN mkdir -p /rootfs/data /rootfs/etc /rootfs/usr/share/doc/larder \
    && install -D -m 755 dist/larder /rootfs/usr/local/bin/larder \
    && cp LICENSE NOTICES.md /rootfs/usr/share/doc/larder/ \
    && { ldd dist/larder; find node_modules/@img -name '*.node' -not -path '*musl*' -exec ldd {} +; } \
       | awk '/=> \// { print $3 } $1 ~ /^\/lib.*ld-linux/ { print $1 }' | grep -v node_modules | sort -u \
       | xargs -I{} cp --parents --dereference {} /rootfs/ \
    && printf 'larder:x:10001:10001::/data:/sbin/nologin\n' > /rootfs/etc/passwd \
    && printf 'larder:x:10001:\n' > /rootfs/etc/group \
    # Any --user can initialize a new volume; files created in it are private to that user.
    && chown 10001:10001 /rootfs/data && chmod 1777 /rootfs/data

# The image with ffmpeg, built only with --target video.
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

# FROM scratch instead of a "distroless" base image: the result has the same files, and there is no other image to trust
# and update.
FROM scratch AS plain
COPY --from=build /rootfs /
# The user and the paths never change in upgrades. To use another user: docker run --user 1000:1000
ENV LARDER_DATA=/data LARDER_HOST=0.0.0.0 LARDER_PORT=8790
USER 10001:10001
VOLUME /data
WORKDIR /data
EXPOSE 8790
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["/usr/local/bin/larder", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/larder"]
CMD ["serve"]

# The image with Litestream, for a second machine that can take over, built only with --target ha. Larder runs exactly this
# version. Litestream is linked statically; its connections to the bucket need the certificates.
FROM plain AS ha
COPY --from=litestream/litestream:0.3.13 /usr/local/bin/litestream /usr/local/bin/litestream
COPY --from=litestream/litestream:0.3.13 /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV LARDER_REPLICA_LITESTREAM=/usr/local/bin/litestream

FROM plain
