import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/limited-key.ts'
import { sendBatch } from '../../support/service.ts'
import {
  addressOf,
  MAIN,
  RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

/** The address of the system program. */
const SYSTEM = '11111111111111111111111111111111'

/** The system program knows its instructions by four bytes. */
const IDL = {
  address: SYSTEM,
  metadata: { name: 'system', version: '0.1.0', spec: '0.1.0' },
  instructions: [
    {
      name: 'transfer',
      discriminator: [2, 0, 0, 0],
      accounts: [
        { name: 'from', writable: true, signer: true },
        { name: 'to', writable: true },
      ],
      args: [{ name: 'lamports', type: 'u64' }],
    },
  ],
}

let scenario: SolanaScenario

beforeAll(async () => {
  scenario = await startSolanaScenario()
}, 60_000)
afterAll(() => scenario.stop())

/** A transfer from relayer `main` to the receiver, by the names of the IDL. */
function named(lamports: unknown, more: object = {}): object {
  const accounts = { from: MAIN, to: RECEIVER }
  const call = { idl: IDL, instruction: 'transfer', args: { lamports }, accounts, ...more }
  return { instructions: [{ program_id: SYSTEM, call }] }
}

const lamportsOf = () => scenario.solana.account(RECEIVER)?.lamports ?? 0n

describe('an instruction by its name', () => {
  test('is sent, and the network executes it', async () => {
    const before = lamportsOf()
    const { id } = await scenario.send(named('1000'))
    await scenario.tickUntil(id, 'confirmed')
    expect(lamportsOf()).toBe(before + 1000n)
  })

  test('is the same request as one with its accounts and data, also in the answer', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const post = (body: object) => scenario.service.api('POST', '/relayers/main/transactions', body, headers)
    const first = await post(named(3))
    const again = await post(transfer(3n))
    expect(again.body.data.id).toBe(first.body.data.id)
    expect(first.body.data).toMatchObject(transfer(3n))
    expect(outcomeOf(await post(named(4)))).toBe('409 idempotency_key_reused')
  })

  test('replaces another one, and has a dry run', async () => {
    const { id } = await scenario.send(named(5))
    const { status } = await scenario.replace(id, named(6))
    expect(status).toBe(200)
    const path = '/relayers/main/transactions?dry_run=true'
    const { body } = await scenario.service.api<{ accepted: boolean }>('POST', path, named(7))
    expect(body.data).toMatchObject({ dry_run: true, accepted: true })
  })

  test('is an item of a batch, and its errors have the place of the item', async () => {
    const { body } = await sendBatch(scenario.service, [named(8), named(9)])
    expect(body.data).toHaveLength(2)
    const refused = await sendBatch(scenario.service, [named(8), named('-9')])
    expect(refused.body.error).toBe(
      'body.transactions[1].instructions[0].call.args.lamports: expected a value of type u64, an integer from 0 to 18446744073709551615.',
    )
  })

  test.each<[string, object, string]>([
    [
      'an account of somebody else as signer',
      named(1, { accounts: { from: RECEIVER, to: MAIN } }),
      `instructions[0].accounts[0].is_signer: only the relayer ${MAIN} signs`,
    ],
    [
      'an instruction that the IDL lacks',
      named(1, { instruction: 'assign' }),
      'body.instructions[0].call.instruction: expected an instruction of call.idl, which has transfer.',
    ],
    [
      'data besides',
      { instructions: [{ program_id: SYSTEM, data: 'AQ==', call: { idl: IDL, instruction: 'transfer' } }] },
      'body.instructions[0].data: there is no such field here',
    ],
    [
      'another program',
      { instructions: [{ program_id: addressOf('other'), call: { idl: IDL, instruction: 'transfer' } }] },
      `body.instructions[0].call.idl.address: expected ${addressOf('other')}, the program of the instruction.`,
    ],
  ])('with %s is refused', async (_name, request, sentence) => {
    const answer = await scenario.post(request)
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain(sentence)
  })
})
