# syntax=docker/dockerfile:1

# A release names the base image by its digest; the release workflow asks for the newest one and writes it into a label. To do the same:
#   digest=$(docker buildx imagetools inspect node:24.21.0-slim --format '{{.Manifest.Digest}}')
#   docker build --build-arg NODE_IMAGE=node:24.21.0-slim@$digest --tag multichain-relayer .
ARG NODE_IMAGE=node:24.21.0-slim

# Makes dist: the program in a few files, and the files of new databases. Has the development dependencies; nothing but dist gets into the image.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY openapi.yaml ./
COPY src src
COPY importers importers
COPY console console
COPY clients/typescript/package.json clients/typescript/
COPY clients/typescript/src clients/typescript/src
COPY docs docs
COPY README.md SECURITY.md CHANGELOG.md CONTRIBUTING.md ./
COPY ops/README.md ops/
COPY plugins/README.md plugins/
COPY clients/typescript/README.md clients/typescript/
COPY scripts/prepare.ts scripts/
COPY scripts/prepare scripts/prepare
RUN node scripts/prepare.ts

# Production dependencies alone, without what Node.js never loads. secp256k1 brings a prebuilt addon for x64; elsewhere its install script
# compiles one, and hides a failure. Loading the addon makes that failure end the build.
FROM ${NODE_IMAGE} AS dependencies
RUN apt-get update \
  && apt-get install --yes --no-install-recommends g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm rebuild secp256k1
COPY scripts/prune-modules.ts scripts/
COPY scripts/prune scripts/prune
RUN node scripts/prune-modules.ts node_modules && node --print "typeof require('secp256k1/bindings.js').ecdsaSign"

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
ARG VERSION=0.1.0
ARG REVISION
ARG SOURCE
LABEL org.opencontainers.image.title="multichain-relayer" \
      org.opencontainers.image.description="Signs, submits, tracks, replaces and cancels transactions on EVM, Stellar and Solana over HTTP" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.base.name="${NODE_IMAGE}"
# The port is reached from outside the container, whatever config/.env says for a start without one.
# The allocator returns free memory to the system, and V8's heap keeps less of a burst (docs/configuration.md, Memory); both read it at the start.
ENV NODE_ENV=production \
    MALLOC_TRIM_THRESHOLD_=1048576 \
    HOST=0.0.0.0 \
    CONFIG_DIR=/app/config \
    DATA_DIR=/app/data
WORKDIR /app
# The user of plugins in a container that starts as root (ops/image-entry.sh), or that runs them alone (compose.yaml).
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin plugins
# Made here, so that a new volume on it belongs to the user who writes it.
RUN install --directory --owner=node --group=node --mode=0700 /app/data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY openapi.yaml package.json ./
COPY plugins plugins
COPY ops/image-entry.sh ./
# The entry gives root up: the service runs as `node`, or as the owner of the data.
USER root
EXPOSE 8080 8081
# Without DATABASE_URL the data is here, for one container at a time; a second one, also for a command, is refused until the first has ended:
#   docker run --volume relayer-data:/app/data --volume "$PWD/config:/app/config:ro" --publish 127.0.0.1:8080:8080 --stop-timeout 30 multichain-relayer
VOLUME /app/data
# Follows HOST and APP_PORT of the configuration.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/app/image-entry.sh", "node", "dist/main.js", "health"]
# The entry becomes node, which receives SIGTERM itself. A stop needs up to RELAYER_SHUTDOWN_SECONDS (25).
ENTRYPOINT ["/app/image-entry.sh", "node", "--max-semi-space-size=16", "--initial-old-space-size=128", "--disable-sigusr1", "dist/main.js"]
CMD ["serve"]
