import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../src/contract/operations.ts'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import { createHealthChecker } from '../../src/relayers/health/check-health.ts'
import { NO_MEMORY } from '../../src/relayers/health/health.ts'
import { findSubjects } from '../../src/relayers/health/health-store.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createAdjustableClock } from '../support/clock.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { DEV_ADDRESSES, type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { chainOf, createStubChain } from '../transactions/stub-chain.ts'

const log = createLogger({ level: 'silent' })
const clock = createAdjustableClock()

let anvil: Anvil
let postgres: PostgresServer
let url: string
let services: Service[]

beforeAll(async () => {
  anvil = await startAnvil()
  postgres = await startPostgres()
  url = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl: url, clock })
  services = [await start(), await start()]
}, 60_000)
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await postgres.stop()
  await anvil.stop()
})

function becomes(service: Service | undefined, disabled: boolean): Promise<unknown> {
  return until(
    async () => {
      clock.advance(5_000)
      return (await service?.api<Schemas['Relayer'][]>('GET', '/relayers'))?.body.data[0]?.system_disabled
    },
    (seen) => seen === disabled,
  )
}

async function told(): Promise<string[]> {
  const answer = await services[0]?.api<Schemas['Event'][]>('GET', '/events?type=relayer_state_update')
  return answer?.body.data.map(({ payload }) => payload.payload_type) ?? []
}

const setBalance = (wei: string) => anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], wei])

test('one of two services checks and tells, and the other goes on when it is gone', async () => {
  await setBalance('0x0')
  await becomes(services[0], true)
  await becomes(services[1], true)
  await setBalance('0x1')
  await becomes(services[1], false)
  expect(await told()).toEqual(['relayer_disabled', 'relayer_enabled'])
  // The first that was started has the lease.
  await services.shift()?.stop()
  await setBalance('0x0')
  await becomes(services[0], true)
  expect(await told()).toEqual(['relayer_disabled', 'relayer_enabled', 'relayer_disabled'])
}, 60_000)

test('processes that find the same at the same moment write it and tell it once', async () => {
  const databases: Database[] = []
  for (let count = 0; count < 4; count += 1)
    databases.push(await openDatabase({ url, dataDir: 'unused' }, log))
  const before = (await told()).length
  const stub = createStubChain()
  stub.override = { verify: async () => ({ kind: 'ok', value: undefined }) }
  stub.balance = { kind: 'ok', value: 10n ** 18n }
  const chain = chainOf(stub)
  const targets = await Promise.all(
    databases.map(async ({ db }) =>
      (await findSubjects(db, ['main'])).map((subject) => ({
        ...subject,
        chain,
        sourceAccounts: [],
        memory: NO_MEMORY,
      })),
    ),
  )
  await Promise.all(
    databases.flatMap(({ db }, index) => {
      const checker = createHealthChecker({
        db,
        clock,
        log,
        findChainReset: async () => undefined,
        findUnexplained: async () => [],
        checkHistory: async () => ({ kind: 'explained' as const }),
        prepare: async () => ({ chain, sourceAccounts: [] }),
      })
      return [1, 2, 3].map(() => checker.check(chain, targets[index] ?? [], new AbortController().signal))
    }),
  )
  await Promise.all(databases.map((database) => database.close()))
  expect((await told()).slice(before)).toEqual(['relayer_enabled'])
}, 60_000)
