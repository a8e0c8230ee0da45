import { setTimeout as pause } from 'node:timers/promises'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Transaction } from '../../../test/support/service.ts'
import { payment } from '../../../test/support/stellar-scenario.ts'
import { pathOf } from '../history-run.ts'
import type { TestBed } from '../test-bed.ts'
import { CHANNELED, type Environment } from './environment.ts'

/** More looks than anything here needs; so many only when something waits for ever. */
const MAX_LOOKS = 400

/** Between two looks: real time, and the service's, in ms. */
const REAL_MS = 20
const SERVICE_MS = 1_000

/** Sends until the service has opened all channel accounts of its relayer, and nothing is on its way. */
export async function openChannels({ ledger, newContent }: Environment, testBed: TestBed): Promise<string[]> {
  const channels = await channelsOf(testBed)
  if (channels.length === 0) return []
  await send(testBed, newContent().amount)
  const open = await comesTrue(testBed, async () => {
    ledger.close()
    return channels.every((address) => ledger.account(address) !== undefined) && (await isIdle(testBed))
  })
  return open ? [] : [`the channel accounts ${channels.join()} are not open, or something never ends`]
}

/** As many at once as there are lines, while no ledger closes: each of them has to be free. Gives what is not so. */
export async function useEverySourceAccount(environment: Environment, testBed: TestBed): Promise<string[]> {
  const unopened = await openChannels(environment, testBed)
  const channels = await channelsOf(testBed)
  if (channels.length === 0 || unopened.length > 0) return unopened
  const contents = Array.from({ length: channels.length + 1 }, environment.newContent)
  const ids = await Promise.all(contents.map(({ amount }) => send(testBed, amount)))
  const path = pathOf(testBed, CHANNELED)
  const records = () =>
    Promise.all(ids.map(async (id) => (await testBed.api('GET', `${path}/${id}`)).body.data))
  const submitted = await comesTrue(testBed, async () =>
    (await records()).every(({ status }) => status === 'submitted'),
  )
  const used = (await records()).map(({ source_account }) => source_account)
  return submitted && new Set(used).size === ids.length
    ? []
    : [`${ids.length} lines were to be used at once, and these were: ${used.join()}`]
}

const OPEN = ['pending', 'sent', 'submitted', 'mined']

async function isIdle(testBed: TestBed): Promise<boolean> {
  const { body } = await testBed.api<Transaction[]>('GET', `${pathOf(testBed, CHANNELED)}?per_page=100`)
  return body.data.every(({ status }) => !OPEN.includes(status))
}

async function channelsOf(testBed: TestBed): Promise<readonly string[]> {
  const { body } = await testBed.api<Schemas['StellarRelayer'][]>('GET', '/relayers')
  return body.data.find(({ id }) => id === testBed.testChain.relayers[CHANNELED])?.channels ?? []
}

async function send(testBed: TestBed, amount: bigint): Promise<string> {
  const answer = await testBed.api('POST', pathOf(testBed, CHANNELED), payment(amount))
  if (answer.status !== 200) throw new Error(`a payment was refused: ${answer.body.error}`)
  return answer.body.data.id
}

async function comesTrue(testBed: TestBed, look: () => Promise<boolean>): Promise<boolean> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    if (await look()) return true
    testBed.advance(SERVICE_MS)
    await pause(REAL_MS)
  }
  return false
}
