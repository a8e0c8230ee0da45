# syntax=docker/dockerfile:1

# Compiles src to dist, and makes the files of new databases. Has the development dependencies; nothing of it but dist gets into the image.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json openapi.yaml ./
COPY generated generated
COPY src src
COPY scripts/prepare.ts scripts/
RUN ./node_modules/.bin/tsc -p tsconfig.build.json && node scripts/prepare.ts

# Production dependencies alone. secp256k1 brings a prebuilt addon for x64; elsewhere its install script compiles one.
FROM node:24-slim AS dependencies
RUN apt-get update \
  && apt-get install --yes --no-install-recommends g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm rebuild secp256k1

FROM node:24-slim
LABEL org.opencontainers.image.title="relayer" \
      org.opencontainers.image.description="Signs, submits, tracks, replaces and cancels transactions on EVM, Stellar and Solana over HTTP" \
      org.opencontainers.image.licenses="MIT"
# The port is reached from outside the container, whatever config/.env says for a start without one.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    CONFIG_DIR=/app/config \
    DATA_DIR=/app/data
WORKDIR /app
# Made here, so that a new volume on it belongs to the user who writes it.
RUN install --directory --owner=node --group=node --mode=0700 /app/data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY openapi.yaml package.json ./
USER node
EXPOSE 8080 8081
# Without DATABASE_URL the data is here: docker run -v relayer-data:/app/data -v ./config:/app/config:ro -p 127.0.0.1:8080:8080 relayer
VOLUME /app/data
# Follows HOST and APP_PORT of the configuration.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "dist/main.js", "health"]
# node itself receives SIGTERM. A stop needs up to RELAYER_SHUTDOWN_SECONDS (25).
ENTRYPOINT ["node", "--enable-source-maps", "dist/main.js"]
CMD ["serve"]
