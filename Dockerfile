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
ENV NODE_ENV=production \
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
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.APP_PORT || 8080}/api/v1/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# node itself receives SIGTERM. A stop needs up to RELAYER_SHUTDOWN_SECONDS (25).
ENTRYPOINT ["node", "--enable-source-maps", "dist/main.js"]
CMD ["serve"]
