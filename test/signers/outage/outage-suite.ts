import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { callService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { expectExactlyOnce, type OutageChain } from './chain.ts'
import { startEvmChain } from './evm-chain.ts'
import type { KeyHolder, Outage, Victim } from './key-holder.ts'

/** A type of signer whose key another service holds. */
interface OutageSubject {
  readonly name: string
  readonly start: () => Promise<KeyHolder>
  /** The chain of the account. Default: an EVM chain. */
  readonly startChain?: () => Promise<OutageChain>
}

/** A short time-out, in ms, so that a service that hangs does not take the time of the tests. */
const TIMEOUT_MS = 1_000

/** The tests look at the records all the time. */
const OFTEN_ASKED = { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' }

/** Installing the services of the tests can take minutes, in ms. */
const START_MS = 300_000

/** No one waits for longer, in ms: repetitions of one call take five seconds, and the pause before the next attempt two. */
const PATIENCE = { timeoutMs: 120_000 }

/** The transactions that are accepted at the same time. */
const BATCH = 3

/**
 * Checks that the service process loses nothing and does nothing twice, whatever happens to the service that holds the key of its account, and
 * when it is killed at the same time.
 */
export function describeOutages({ name, start, startChain = startEvmChain }: OutageSubject): void {
  describe(`the account of a signer of the type ${name}`, () => {
    let holder: KeyHolder
    let chain: OutageChain
    let folder: string
    let service: ServiceProcess
    let accepted = 0
    const ends: (() => Promise<void>)[] = []

    const victim = (): Victim => ({ pid: service.child.pid ?? 0 })
    const run = () =>
      startProcess({
        rpcUrl: '',
        folder,
        env: {
          ...OFTEN_ASKED,
          RELAYER_KEY_SERVICE_TIMEOUT_MS: String(holder.timeoutMs ?? TIMEOUT_MS),
          ...holder.env,
        },
        config: configOf(holder, chain),
      })

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'relayer-outage-'))
      ends.push(() => rm(folder, { recursive: true }))
      holder = await start()
      ends.push(holder.stop)
      chain = await startChain()
      ends.push(chain.stop)
      service = await run()
      ends.push(() => service.kill())
    }, START_MS)
    afterAll(async () => {
      for (const end of ends.reverse()) await end()
    })

    async function accept(): Promise<void> {
      accepted += 1
      const body = chain.request(accepted)
      const request = { method: 'POST', path: '/relayers/main/transactions', body }
      const answer = await callService<Transaction>(service.url, request)
      expect(answer.body.error).toBeUndefined()
      expect(answer.status).toBe(200)
    }
    const acceptSome = () => Promise.all(Array.from({ length: BATCH }, accept))
    const records = async () => {
      const path = '/relayers/main/transactions?per_page=100'
      return (await callService<Transaction[]>(service.url, { method: 'GET', path })).body.data
    }

    /** One of them says that its key is missing, and the chain gets nothing. */
    async function expectDelay(before: number): Promise<void> {
      await until(records, (all) => all.some(isWaitingForKey), PATIENCE)
      expect((await chain.included()).length).toBe(before)
    }

    async function expectAll(): Promise<void> {
      await until(
        async () => {
          await chain.makeBlock()
          return records()
        },
        (all) => all.every(isFinal),
        PATIENCE,
      )
      await expectExactlyOnce(chain, { records: await records(), count: accepted })
    }

    async function endure(outage: Outage): Promise<void> {
      const before = (await chain.included()).length
      await outage.begin(victim())
      await acceptSome()
      if (!holder.isRead) await expectDelay(before)
      await holder.recover()
      await expectAll()
    }

    test('sends while the service of the key is well, and after each outage, everything once', async () => {
      await acceptSome()
      await expectAll()
      for (const outage of holder.outages) await endure(outage)
    }, 400_000)

    test('is killed while a signature is under way, starts without the service of the key, and sends everything once', async () => {
      const before = (await chain.included()).length
      const { underWay } = await holder.withhold(victim())
      await acceptSome()
      if (!holder.isRead) await underWay
      await service.kill()
      await holder.gone.begin(victim())
      service = await run()
      await acceptSome()
      await expectDelay(before)
      await holder.recover()
      await expectAll()
    }, 400_000)
  })
}

function configOf(holder: KeyHolder, chain: OutageChain): object {
  return {
    networks: [chain.network],
    notifications: [],
    signers: [{ id: 'held', ...holder.signer }],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'held', ...chain.relayer }],
  }
}

function isWaitingForKey({ status_reason: reason }: Transaction): boolean {
  return reason?.startsWith('Waiting for its key') === true
}

function isFinal({ status }: Transaction): boolean {
  return ['confirmed', 'failed', 'canceled', 'expired'].includes(status)
}
