import { expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import type { TransactionsContext } from '../../src/transactions/model/runtime.ts'
import { createScheduleWorker } from '../../src/workers/schedule-worker.ts'
import { createTestClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

test('while no schedule is due, a process asks the database once a minute, and runs nothing', async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.close())
  let statements = 0
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const clock = createTestClock()
  let runs = 0
  const runner = {
    runDue: async () => {
      runs += 1
      return false
    },
  }
  const context = { db, clock, owner: 'one', log: createLogger({ level: 'silent' }) }
  // The worker uses nothing else of it.
  const worker = createScheduleWorker(context as unknown as TransactionsContext, runner)
  await worker.start()
  onTestFinished(worker.stop)
  const MINUTES = 10
  for (let round = 0; round < 2 * MINUTES; round += 1) {
    await until(
      async () => clock.waiting,
      (waiting) => waiting > 0,
    )
    clock.advance(30_000)
  }
  await until(
    async () => clock.waiting,
    (waiting) => waiting > 0,
  )
  expect(statements).toBeGreaterThan(MINUTES - 2)
  expect(statements).toBeLessThanOrEqual(MINUTES + 1)
  expect(runs).toBe(0)
})
