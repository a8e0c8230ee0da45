import { defineConfig } from 'vitest/config'
import { hasSoftHsm } from './test/support/key-services/softhsm.ts'
import { EVERY_RUN } from './vitest.shared.ts'

const SOFTHSM_TESTS = [
  'test/signers/conformance/pkcs11.test.ts',
  'test/signers/outage/pkcs11.test.ts',
  'test/e2e/signers/pkcs11.test.ts',
]

// Not a skip: where there is no SoftHSM2 the files are not part of the run, and the run says so.
const withSoftHsm = hasSoftHsm()
if (!withSoftHsm && process.env.REQUIRE_SOFTHSM === '1')
  throw new Error(
    'REQUIRE_SOFTHSM=1, but there is no SoftHSM2 or no pkcs11js here: install the package softhsm2, and run: npm explore pkcs11js -- npm run build.',
  )
if (!withSoftHsm)
  process.stdout.write(`No SoftHSM2 or no pkcs11js here: without ${SOFTHSM_TESTS.join(', ')}.\n`)

/**
 * Every kind of signer in one conformance suite, and accounts whose key another service holds. The services are installed and started by
 * the tests, which takes Python, a package index and minutes, so they are not part of `npm test`. CI runs `npm run test:signers`.
 */
export default defineConfig({
  test: {
    ...EVERY_RUN,
    include: [
      'test/signers/conformance/**/*.test.ts',
      'test/signers/import/**/*.test.ts',
      'test/signers/outage/**/*.test.ts',
      'test/e2e/signers/**/*.test.ts',
    ],
    exclude: withSoftHsm ? [] : SOFTHSM_TESTS,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
