import { defineConfig } from 'vitest/config'
import { canStartPostgres, hasPostgres } from './test/support/postgres.ts'
import { LONG_TESTS } from './vitest.long-tests.ts'
import { SHARING_RUN } from './vitest.shared.ts'

const POSTGRES_TESTS = [
  'postgres',
  'two-services',
  'failover',
  'event-order',
  'idempotency',
  'records',
  'health',
  'relayers',
  'backup',
  'spending',
].map((name) => `test/database/${name}.test.ts`)

// Not a skip: where there is no PostgreSQL the file is not part of the run, and the run says so.
/** The test starts the server after the service, so `TEST_DATABASE_URL` is not enough. */
const LATE_POSTGRES_TEST = 'test/database/late-postgres.test.ts'

const withPostgres = hasPostgres()
if (!withPostgres && process.env.REQUIRE_POSTGRES === '1')
  throw new Error(
    'REQUIRE_POSTGRES=1, but there is no PostgreSQL here: install 15 or newer, or set TEST_DATABASE_URL.',
  )
if (!withPostgres)
  process.stdout.write(
    `No PostgreSQL here (15+, or TEST_DATABASE_URL): without ${POSTGRES_TESTS.join(', ')}.\n`,
  )

export default defineConfig({
  test: {
    ...SHARING_RUN,
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/browser/**',
      'test/faults/**',
      'test/package/**',
      'test/signers/conformance/**',
      'test/signers/import/**',
      'test/signers/outage/**',
      'test/e2e/signers/**',
      ...LONG_TESTS,
      ...(withPostgres ? [] : POSTGRES_TESTS),
      ...(canStartPostgres() ? [] : [LATE_POSTGRES_TEST]),
    ],
  },
})
