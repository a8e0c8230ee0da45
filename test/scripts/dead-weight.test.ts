import { expect, test } from 'vitest'
import { isDeadWeight } from '../../scripts/prune/dead-weight.ts'

test.each([
  'viem/_esm/index.js.map',
  'kysely/dist/index.d.ts',
  'kysely/dist/index.d.mts',
  'viem/utils/index.ts',
  'pino/README.md',
  'viem/_cjs/index.js',
  'viem/node_modules/ox/_types/index.d.ts',
  'a/node_modules/ox/_cjs/index.js',
  '@stellar/stellar-sdk/dist/stellar-sdk.js',
  '@solana/kit/dist/index.browser.mjs',
  '@solana/kit/dist/index.native.mjs',
  'typescript/lib/tsc.js',
  'typescript/LICENSE.txt',
  'secp256k1/src/secp256k1/src/ecmult.h',
])('%s goes', (path) => expect(isDeadWeight(path)).toBe(true))

test.each([
  'viem/_esm/index.js',
  'viem/LICENSE',
  'viem/LICENSE.md',
  'pg/LICENSE',
  '@stellar/stellar-sdk/lib/esm/index.js',
  '@solana/kit/dist/index.node.mjs',
  '@electric-sql/pglite/dist/pglite.wasm',
  '@electric-sql/pglite/dist/pglite.data',
  'secp256k1/prebuilds/linux-x64/node.napi.node',
  'secp256k1/build/Release/addon.node',
  'secp256k1/package.json',
  'typescript-like/lib/index.js',
  'koa/lib/application.js',
])('%s stays', (path) => expect(isDeadWeight(path)).toBe(false))
