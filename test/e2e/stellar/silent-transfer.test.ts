import { nativeToScVal } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN, RECEIVER, type StellarScenario, startStellarScenario } from '../../support/stellar-scenario.ts'

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario()
})
afterAll(() => scenario.stop())

const transferOf = (token: string) => ({
  network: 'standalone',
  operations: [
    {
      type: 'invoke_contract',
      contract_address: token,
      function_name: 'transfer',
      args: [{ address: MAIN.publicKey() }, { address: RECEIVER }, { i128: '5' }],
    },
  ],
})

test('a transfer that moves tokens needs no explanation', async () => {
  const { send, closeUntil, ledger } = scenario
  const { id } = await send(transferOf(ledger.nativeContract))
  expect((await closeUntil(id, 'confirmed')).status_reason).toBeUndefined()
})

test('a transfer that succeeds without an event is confirmed, and its record says so', async () => {
  const { send, closeUntil, ledger } = scenario
  const token = ledger.contract({ transfer: () => nativeToScVal(false) })
  const { id } = await send(transferOf(token))
  expect((await closeUntil(id, 'confirmed')).status_reason).toBe(
    `${token} emitted no event of a transfer (SEP-41), so this transfer may have moved no tokens.`,
  )
})
