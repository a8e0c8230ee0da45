import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueLimited, outcomeOf, violationIn } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, sendBatch } from '../../support/service.ts'
import {
  addressOf,
  MAIN,
  RECEIVER as SOLANA_RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

describe('on EVM', () => {
  /** Code at this address takes every call. */
  const TOKEN = '0x00000000000000000000000000000000000000aa'
  /** More than a double can hold exactly. */
  const AMOUNT = 2n ** 70n + 1n
  const ABI = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])
  const dataOf = (amount: bigint) =>
    encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [RECEIVER as `0x${string}`, amount] })

  let story: Scenario

  beforeAll(async () => {
    story = await startScenario()
    await story.anvil.rpc('anvil_setCode', [TOKEN, '0x00'])
  }, 60_000)
  afterAll(() => story.stop())

  const transfer = (amount: unknown, more: object = {}) => ({
    to: TOKEN,
    value: 0,
    call: { function: 'transfer(address,uint256)', args: [RECEIVER, amount] },
    ...more,
  })

  /** The same with the amount as a JSON integer of any size. */
  const transferText = (amount: bigint) => JSON.stringify(transfer('@')).replace('"@"', String(amount))

  describe('a call by name', () => {
    test('is sent, and the chain gets the data of its function', async () => {
      const { id, data } = await story.send(transferText(AMOUNT))
      expect(data).toBe(dataOf(AMOUNT))
      await story.settle()
      const { hash } = await story.get(id)
      expect(await story.anvil.rpc('eth_getTransactionByHash', [hash])).toMatchObject({
        input: dataOf(AMOUNT),
      })
    })

    test('is found in an ABI, and replaces a call of another amount', async () => {
      const { id } = await story.send(transfer(1))
      const call = { abi: ABI, function: 'transfer', args: [RECEIVER, '2'] }
      const { status, body } = await story.replace(id, { to: TOKEN, value: 0, call, speed: 'fastest' })
      expect([status, body.data.data]).toEqual([200, dataOf(2n)])
      await story.settle()
    })

    test('is the same request as one with its data', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      const post = (body: object) => story.service.api('POST', '/relayers/main/transactions', body, headers)
      const first = await post(transfer('3'))
      const again = await post({ to: TOKEN, value: 0, data: dataOf(3n) })
      expect(again.body.data.id).toBe(first.body.data.id)
      expect(outcomeOf(await post(transfer('4')))).toBe('409 idempotency_key_reused')
    })

    test('is an item of a batch, and its errors have the place of the item', async () => {
      const { body } = await sendBatch(story.service, [transfer(5), transfer(6)])
      expect(body.data.map(({ data }) => data)).toEqual([dataOf(5n), dataOf(6n)])
      const refused = await sendBatch(story.service, [transfer(5), transfer(-6)])
      expect(refused.body.error).toContain(
        'body.transactions[1].call.args[1]: expected a value of type uint256; ',
      )
    })

    test('is known to the rules of a key as its data is', async () => {
      const key = await issueLimited(story.service, { contracts: [TOKEN], selectors: ['0xa9059cbb'] })
      expect((await key.send(transfer(7))).status).toBe(200)
      const approve = { function: 'approve(address,uint256)', args: [RECEIVER, 7] }
      expect(violationIn(await key.send(transfer(7, { call: approve })))).toContain('0x095ea7b3')
    })

    test('has a dry run', async () => {
      const path = '/relayers/main/transactions?dry_run=true'
      const { body } = await story.service.api<{ accepted: boolean }>('POST', path, transfer(8))
      expect(body.data).toMatchObject({ dry_run: true, accepted: true })
    })

    test.each<[string, object, string]>([
      ['data besides', { data: '0x' }, 'body.call: expected either data or call, not both.'],
      ['no contract', { to: null }, 'body.to: expected the address of the called contract.'],
      ['no function', { call: {} }, 'body.call.function: is required.'],
      [
        'an argument of another type',
        { call: { function: 'f(uint256)', args: ['ten'] } },
        'body.call.args[0]: expected a value of type uint256; an integer from 0 to ',
      ],
      [
        'an unknown type',
        { call: { function: 'f(number)', args: [1] } },
        'body.call.function: number is not a Solidity type.',
      ],
    ])('with %s is refused', async (_name, more, sentence) => {
      const answer = await story.post(transfer(1, more))
      expect(outcomeOf(answer)).toBe('400 invalid_request')
      expect(answer.body.error).toContain(sentence)
    })
  })
})

describe('on Solana', () => {
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
    const accounts = { from: MAIN, to: SOLANA_RECEIVER }
    const call = { idl: IDL, instruction: 'transfer', args: { lamports }, accounts, ...more }
    return { instructions: [{ program_id: SYSTEM, call }] }
  }

  const lamportsOf = () => scenario.solana.account(SOLANA_RECEIVER)?.lamports ?? 0n

  describe('an instruction by its name', () => {
    test('is sent, and the network executes it', async () => {
      const before = lamportsOf()
      const { id } = await scenario.send(named('1000'))
      await scenario.tickUntil(id, 'confirmed')
      expect(lamportsOf()).toBe(before + 1000n)
    })

    test('is the same request as one with its accounts and data, also in the answer', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      const post = (body: object) =>
        scenario.service.api('POST', '/relayers/main/transactions', body, headers)
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
        'an account of a third party as signer',
        named(1, { accounts: { from: SOLANA_RECEIVER, to: MAIN } }),
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
})
