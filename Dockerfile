# A worker, or with another command the console. A glibc image: Temporal's native core has no build
# for musl, so Alpine does not work.
FROM node:20-bookworm-slim AS install
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
# The pages of the console are built with packages that nothing needs later.
COPY scripts/build-console.ts ./scripts/
COPY src ./src
RUN node --import tsx scripts/build-console.ts && npm prune --omit=dev
# Everloop brings no provider. These are for the agents of worker.ts; its tests have them as
# dependencies of development, which would be left out.
RUN npm install --no-save --save-prod --omit=dev @ai-sdk/openai@3 zod@4
# Temporal's core ships for five machines, 28 MB each; the image needs its own.
RUN node --import tsx src/cli/main.ts prune

FROM node:20-bookworm-slim
# Locale and time zone are the same on every worker: replay must not depend on a machine's own.
ENV NODE_ENV=production TZ=UTC LANG=C.UTF-8
WORKDIR /app
COPY --from=install /app/node_modules ./node_modules
COPY package.json tsconfig.json worker.ts ./
COPY src ./src
COPY --from=install /app/dist ./dist
COPY examples ./examples
RUN mkdir .everloop && chown node:node .everloop
USER node
# Node itself is process 1, so SIGTERM reaches the worker, which stops in order.
CMD ["node", "--import", "tsx", "worker.ts"]
