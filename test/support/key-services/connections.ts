import { createKeyServices } from '../../../src/signers/providers/connect.ts'

/** Ways to key services for tests. Callers may name services of this machine, because the tests run them here. */
export const KEY_SERVICES = createKeyServices({
  keyServices: { timeoutMs: 3_000, concurrency: 50 },
  allowPrivateUrls: true,
})
