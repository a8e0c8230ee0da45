import { defineConfig } from 'vitest/config'
import { hasPrometheus } from './test/support/prometheus.ts'
import { LONG_TESTS, PROMETHEUS_TESTS } from './vitest.long-tests.ts'
import { SHARING_RUN } from './vitest.shared.ts'

// Not a skip: where there is no Prometheus the files are not part of the run, and the run says so.
const withPrometheus = hasPrometheus()
if (!withPrometheus && process.env.REQUIRE_PROMETHEUS === '1')
  throw new Error('REQUIRE_PROMETHEUS=1, but there is no Prometheus here: install the package prometheus.')
if (!withPrometheus) process.stdout.write(`No Prometheus here: without ${PROMETHEUS_TESTS.join(', ')}.\n`)

/** `LONG_TESTS` alone, as `npm test` would run them. CI runs `npm run test:long`. */
export default defineConfig({
  test: { ...SHARING_RUN, include: [...LONG_TESTS], exclude: withPrometheus ? [] : [...PROMETHEUS_TESTS] },
})
