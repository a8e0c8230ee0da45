import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import type { WireEntry } from '../../support/forked.ts'
import { outcomeOf } from '../../support/limited-key.ts'
import { type Scenario, scenarioOf, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, type Story, startService } from '../../support/service.ts'
import * as solana from '../../support/solana-scenario.ts'
import * as stellar from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

type Event = Schemas['Event']

/** The receipts in the events of a transaction, in their order, each with the status of the event. */
async function receiptsInEvents({ service }: Story, id: string) {
  const { body } = await service.api<Event[]>('GET', `/events?transaction_id=${id}`)
  return body.data.map(({ payload }) =>
    payload.payload_type === 'transaction' ? [payload.status, payload.receipt] : [],
  )
}

const receiptOf = ({ service }: Story, id: string) =>
  service.api<Schemas['TransactionReceipt']>('GET', `/relayers/main/transactions/${id}/receipt`)

const hex = (value: string) => BigInt(value)

describe('on EVM', () => {
  interface NodeReceipt {
    readonly blockNumber: string
    readonly blockHash: string
    readonly gasUsed: string
    readonly effectiveGasPrice: string
  }

  let story: Scenario
  beforeAll(async () => {
    story = await startScenario({ network: { required_confirmations: 3 } })
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${(2n ** 120n).toString(16)}`])
  }, 60_000)
  afterAll(() => story.stop())

  /** The receipt that the record must have, by the node itself. Integers of answers are numbers where they are small. */
  async function expected(hash: unknown, { anvil }: Pick<Scenario, 'anvil'> = story) {
    const receipt = await anvil.rpc<NodeReceipt>('eth_getTransactionReceipt', [hash])
    const block = await anvil.rpc<{ timestamp: string }>('eth_getBlockByHash', [receipt.blockHash, false])
    return {
      transaction_hash: hash,
      block_number: Number(receipt.blockNumber),
      block_hash: receipt.blockHash,
      block_time: new Date(Number(block.timestamp) * 1_000).toISOString(),
      gas_used: Number(receipt.gasUsed),
      effective_gas_price: String(hex(receipt.effectiveGasPrice)),
      fee: String(hex(receipt.gasUsed) * hex(receipt.effectiveGasPrice)),
    }
  }

  test('a transaction has its receipt from its block on, in the record, in lists and in events', async () => {
    const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
    expect(await story.reach(id, 'submitted')).not.toHaveProperty('receipt')
    await story.mine()
    const mined = await story.reach(id, 'mined')
    const receipt = await expected(mined.hash)
    expect(mined.receipt).toEqual(receipt)
    await story.mine(3)
    const confirmed = await story.reach(id, 'confirmed')
    expect(confirmed.receipt).toEqual(receipt)
    const list = await story.service.api<Schemas['Transaction'][]>('GET', '/relayers/main/transactions')
    expect(list.body.data.find((one) => one.id === id)?.receipt).toEqual(receipt)
    expect(await receiptsInEvents(story, id)).toEqual([
      ...['pending', 'sent', 'submitted'].map((status) => [status, undefined]),
      ['mined', receipt],
      ['confirmed', receipt],
    ])
  })

  test('a price that no double can hold keeps every digit', async () => {
    const price = 2n ** 80n + 1n
    await story.service.api('PATCH', '/relayers/main', { policies: { tx_fee_cap: String(2n ** 127n) } })
    const { id } = await story.send({
      to: RECEIVER,
      value: 1,
      gas_limit: 21_000,
      gas_price: String(price),
    })
    await story.reach(id, 'submitted')
    await story.mine()
    const { receipt } = await story.reach(id, 'mined')
    expect(receipt).toMatchObject({ effective_gas_price: String(price), fee: String(21_000n * price) })
    await story.settle()
  })

  test('a reverted one has a receipt, and what another attempt or the no-op of a cancellation took is that of the included one', async () => {
    const reverting = '0x00000000000000000000000000000000000000bb'
    await story.anvil.rpc('anvil_setCode', [reverting, '0x60006000fd'])
    const failing = await story.send({ to: reverting, value: 0, data: '0x12345678', gas_limit: 90_000 })
    const replaced = await story.send({ to: RECEIVER, value: 2, speed: 'average' })
    const canceled = await story.send({ to: RECEIVER, value: 3, speed: 'average' })
    for (const { id } of [failing, replaced, canceled]) await story.reach(id, 'submitted')
    const first = (await story.get(replaced.id)).hash
    await story.replace(replaced.id, { to: RECEIVER, value: 4, speed: 'fastest' })
    await story.service.api('DELETE', `/relayers/main/transactions/${canceled.id}`)
    await story.settle()
    const ended = await Promise.all([failing, replaced, canceled].map(({ id }) => story.get(id)))
    expect(ended.map(({ status }) => status)).toEqual(['failed', 'confirmed', 'canceled'])
    for (const { hash, receipt } of ended) expect(receipt).toEqual(await expected(hash))
    expect(ended[1]?.hash).not.toBe(first)
  })

  test('a reorganisation takes the receipt back, the next block gives another one, and old events keep theirs', async () => {
    const { id } = await story.send({ to: RECEIVER, value: 5, speed: 'fast' })
    await story.reach(id, 'submitted')
    await story.mine()
    const mined = await story.reach(id, 'mined')
    const first = await expected(mined.hash)
    await story.anvil.rpc('anvil_reorg', [1, []])
    const returned = await story.reach(id, 'submitted')
    expect(returned).not.toHaveProperty('receipt')
    await until(
      () => story.anvil.rpc('eth_getTransactionByHash', [mined.hash]),
      (known) => known !== null,
    )
    await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x1234567'])
    await story.mine()
    const again = await story.reach(id, 'mined')
    const second = await expected(again.hash)
    expect(again.receipt).toEqual(second)
    expect([second.block_hash, second.fee]).not.toEqual([first.block_hash, first.fee])
    const events = await receiptsInEvents(story, id)
    expect(events.slice(3)).toEqual([
      ['mined', first],
      ['submitted', undefined],
      ['mined', second],
    ])
    await story.settle()
  })
})

describe('on EVM, through a node that adds something', () => {
  let story: Scenario
  let node: FaultyNode
  beforeAll(async () => {
    const anvil = await startAnvil({ args: ['--no-mining'] })
    node = await startFaultyNode(anvil.url)
    const service = await startService({ rpcUrls: [node.url], network: { required_confirmations: 2 } })
    story = scenarioOf(anvil, service)
  }, 60_000)
  afterAll(async () => {
    await story.stop()
    await node.stop()
  })

  /** Changes the receipts that the node tells, until the end of the test. */
  function lie(change: (receipt: Record<string, unknown>) => object): void {
    node.habits = {
      lie: ({ method }: WireEntry, reply: WireEntry) =>
        method === 'eth_getTransactionReceipt' && reply.result
          ? { ...reply, result: { ...reply.result, ...change(reply.result as Record<string, unknown>) } }
          : reply,
    }
    onTestFinished(() => {
      node.habits = undefined
    })
  }

  async function mined(body: object): Promise<string> {
    const { id } = await story.send({ to: RECEIVER, value: 0, gas_limit: 2_000_000, ...body })
    await story.reach(id, 'submitted')
    await story.mine()
    await story.reach(id, 'mined')
    return id
  }

  test('the fees for the parent chain and the operator of an OP stack rollup are told apart', async () => {
    lie(() => ({ l1Fee: '0x1234567890abcdef', operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x5' }))
    const id = await mined({ value: 1, gas_limit: 21_000 })
    const { receipt } = (await story.get(id)) as { receipt?: Schemas['EvmReceipt'] }
    const [l1, operator] = [0x1234567890abcdefn, 42_005n]
    expect(receipt).toMatchObject({ l1_fee: String(l1), operator_fee: String(operator) })
    const gas = 21_000n * BigInt(receipt?.effective_gas_price ?? 0)
    expect(receipt?.fee).toBe(String(gas + l1 + operator))
    await story.settle()
  })

  test('the times of blocks cost at most one call for each block', async () => {
    const asked = () => node.calls.get('eth_getBlockByHash') ?? 0
    const before = asked()
    const ids = await Promise.all([1, 2, 3, 4].map((value) => story.send({ to: RECEIVER, value })))
    for (const { id } of ids) await story.reach(id, 'submitted')
    await story.settle()
    for (const { id } of ids)
      expect((await story.get(id)).receipt).toMatchObject({ block_time: expect.any(String) })
    expect(asked() - before).toBeLessThanOrEqual(1)
  })

  test('without an answer about its block a transaction is mined all the same, and gets the time when it is final', async () => {
    node.habits = {
      lie: ({ method }, reply) =>
        method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash'
          ? { ...reply, result: { ...(reply.result as object), timestamp: 'soon' } }
          : reply,
    }
    const id = await mined({ value: 1, gas_limit: 21_000 })
    expect((await story.get(id)).receipt).not.toHaveProperty('block_time')
    node.habits = undefined
    await story.mine(2)
    const { receipt } = await story.reach(id, 'confirmed')
    expect(receipt).toMatchObject({ block_time: expect.stringMatching(/Z$/), gas_used: 21_000 })
  })

  describe('the receipt with its logs', () => {
    const EMITTER = '0x00000000000000000000000000000000000000AA'
    const ABI = parseAbi([
      'event Transfer(address indexed from, address indexed to, uint256 value)',
      'event Paid(address indexed to, uint256 amount, string indexed memo, (uint8 kind, bytes data) more)',
      'event Unknown(uint256 value)',
    ])
    const word = (text: string) => `7f${text.slice(2)}`

    /** Code that emits a log with these topics and data. */
    function emit(topics: readonly string[], data: string): string {
      const words = data.slice(2).match(/.{1,64}/g) ?? []
      const stores = words.map((one, index) => `7f${one.padEnd(64, '0')}61${twoBytes(index * 32)}52`)
      const pushes = [...topics].reverse().map(word)
      return `${[...stores, ...pushes].join('')}61${twoBytes((data.length - 2) / 2)}5f${(0xa0 + topics.length).toString(16)}`
    }

    const twoBytes = (value: number) => value.toString(16).padStart(4, '0')
    const AMOUNT = 2n ** 70n + 1n

    async function emitting(code: string): Promise<string> {
      await story.anvil.rpc('anvil_setCode', [EMITTER, `0x${code}`])
      return mined({ to: EMITTER, data: '0x01' })
    }

    const transfer = emit(
      encodeEventTopics({
        abi: ABI,
        eventName: 'Transfer',
        args: { from: DEV_ADDRESSES[0] as `0x${string}`, to: RECEIVER },
      }) as string[],
      encodeAbiParameters([{ type: 'uint256' }], [AMOUNT]),
    )
    const paidTopics = encodeEventTopics({
      abi: ABI,
      eventName: 'Paid',
      args: { to: RECEIVER, memo: 'rent' },
    })
    const paid = emit(
      paidTopics as string[],
      encodeAbiParameters(
        [
          { type: 'uint256' },
          {
            type: 'tuple',
            components: [
              { type: 'uint8', name: 'kind' },
              { type: 'bytes', name: 'data' },
            ],
          },
        ],
        [AMOUNT, { kind: 7, data: '0xbeef' }],
      ),
    )
    const unknown = emit(encodeEventTopics({ abi: ABI, eventName: 'Unknown' }) as string[], '0x01')

    test('has those of standards and of the registered ABI decoded, and the others as they are', async () => {
      await story.service.api('PUT', `/relayers/main/abis/${EMITTER}`, { name: 'Desk', abi: ABI.slice(1, 2) })
      const id = await emitting(`${transfer}${paid}${unknown}`)
      const { status, body } = await receiptOf(story, id)
      expect([status, body.error]).toEqual([200, undefined])
      const { receipt } = await story.get(id)
      expect(body.data).toMatchObject({
        transaction_id: id,
        network_type: 'evm',
        succeeded: true,
        truncated: false,
        receipt,
      })
      const { logs } = body.data as Schemas['EvmTransactionReceipt']
      expect(logs.map(({ address, log_index }) => [address, Number(log_index)])).toEqual([
        [EMITTER, 0],
        [EMITTER, 1],
        [EMITTER, 2],
      ])
      expect(logs.map(({ decoded_event }) => decoded_event)).toEqual([
        {
          event: 'Transfer(address,address,uint256)',
          contract_name: 'Desk',
          source: 'standard',
          args: [
            { name: 'from', type: 'address', value: DEV_ADDRESSES[0] },
            { name: 'to', type: 'address', value: RECEIVER },
            { name: 'value', type: 'uint256', value: String(AMOUNT) },
          ],
        },
        {
          event: 'Paid(address,uint256,string,(uint8,bytes))',
          contract_name: 'Desk',
          source: 'registered',
          args: [
            { name: 'to', type: 'address', value: RECEIVER },
            { name: 'amount', type: 'uint256', value: String(AMOUNT) },
            { name: 'memo', type: 'string', value: paidTopics[2] },
            { name: 'more', type: '(uint8,bytes)', value: { kind: '7', data: '0xbeef' } },
          ],
        },
        undefined,
      ])
      expect(logs[2]).toMatchObject({
        data: '0x01',
        topics: encodeEventTopics({ abi: ABI, eventName: 'Unknown' }),
      })
    })

    test('has at most 500 logs and 256 KiB, and tells that there are more', async () => {
      const many = await receiptOf(story, await emitting('5f5fa0'.repeat(600)))
      const { logs, truncated } = many.body.data as Schemas['EvmTransactionReceipt']
      expect([logs.length, truncated]).toEqual([500, true])
      const large = await receiptOf(story, await emitting('6170005fa0'.repeat(6)))
      const shown = large.body.data as Schemas['EvmTransactionReceipt']
      expect([shown.logs.length, shown.truncated]).toEqual([4, true])
    })

    test('has at most 256 KiB with the names of a hostile ABI', async () => {
      const inputs = Array.from({ length: 60 }, (_, at) => ({
        name: `${at}${'n'.repeat(900)}`,
        type: 'uint8',
      }))
      const abi = [{ type: 'event', name: 'Unknown', inputs }]
      const [topic = ''] = encodeEventTopics({ abi, eventName: 'Unknown' }) as string[]
      const put = await story.service.api('PUT', `/relayers/main/abis/${EMITTER}`, { name: 'Hostile', abi })
      expect([put.status, put.body.error]).toEqual([200, undefined])
      const data = '00'.repeat(32 * inputs.length)
      // The words stay in memory for the events after the first one.
      const again = `${word(topic)}61${twoBytes(data.length / 2)}5fa1`
      const id = await emitting(`${emit([topic], `0x${data}`)}${again.repeat(60)}`)
      const { body } = await receiptOf(story, id)
      const { logs, truncated } = body.data as Schemas['EvmTransactionReceipt']
      expect([logs.length > 1, truncated]).toEqual([true, true])
      expect(JSON.stringify(body).length).toBeLessThan(262_144 + 1_000)
      await story.service.api('DELETE', `/relayers/main/abis/${EMITTER}`)
    })

    test('is refused before a block includes the transaction', async () => {
      const { id } = await story.send({ to: RECEIVER, value: 1 })
      const early = await receiptOf(story, id)
      expect(outcomeOf(early)).toBe('400 transaction_not_included')
      await story.settle()
      expect((await receiptOf(story, id)).status).toBe(200)
      const nobody = await receiptOf(story, '0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11')
      expect(outcomeOf(nobody)).toBe('404 transaction_not_found')
    })

    test('is unknown when the node does not answer, has no such transaction, or has it in another block', async () => {
      const id = await emitting(transfer)
      await story.settle()
      lie(() => ({ blockHash: `0x${'ab'.repeat(32)}` }))
      const moved = await receiptOf(story, id)
      expect([outcomeOf(moved), moved.body.error]).toEqual([
        '500 network_unavailable',
        expect.stringContaining('in another block'),
      ])
      lie(() => ({ logs: [{ address: 'nobody' }] }))
      expect(outcomeOf(await receiptOf(story, id))).toBe('500 network_unavailable')
      node.habits = { lie: (_call, reply) => ({ ...reply, result: null }) }
      expect(outcomeOf(await receiptOf(story, id))).toBe('500 network_unavailable')
      node.habits = undefined
      expect((await receiptOf(story, id)).status).toBe(200)
    })
  })
})

describe('on Stellar', () => {
  let story: stellar.StellarScenario
  beforeAll(async () => {
    story = await stellar.startStellarScenario()
  }, 60_000)
  afterAll(() => story.stop())

  test('a payment has its ledger and the fee that was charged, in the record and in events', async () => {
    const { id } = await story.send(stellar.payment(5))
    expect(await story.reach(id, 'submitted')).not.toHaveProperty('receipt')
    const { hash, receipt } = await story.closeUntil(id, 'confirmed')
    const applied = story.ledger.included(String(hash))
    expect(receipt).toEqual({
      transaction_hash: hash,
      ledger: applied?.ledger,
      ledger_time: expect.stringMatching(/\.000Z$/),
      fee_charged: Number(applied?.result.feeCharged),
      fee_account: stellar.MAIN.publicKey(),
    })
    expect((await receiptsInEvents(story, id)).slice(-2)).toEqual([
      ['mined', receipt],
      ['confirmed', receipt],
    ])
  })

  test('a contract call has its return value and its events in the notation of its arguments', async () => {
    const operation = {
      type: 'invoke_contract',
      contract_address: story.ledger.nativeContract,
      function_name: 'transfer',
      named_args: { from: stellar.MAIN.publicKey(), to: stellar.RECEIVER, amount: '77' },
    }
    const { id } = await story.send({ network: 'standalone', operations: [operation] })
    const early = await receiptOf(story, id)
    expect(outcomeOf(early)).toBe('400 transaction_not_included')
    const { receipt } = await story.closeUntil(id, 'confirmed')
    const { status, body } = await receiptOf(story, id)
    expect([status, body.error]).toEqual([200, undefined])
    expect(body.data).toEqual({
      transaction_id: id,
      network_type: 'stellar',
      receipt,
      succeeded: true,
      return_value: 'void',
      events: [
        {
          type: 'contract',
          contract_id: story.ledger.nativeContract,
          topics: [
            { symbol: 'transfer' },
            { address: stellar.MAIN.publicKey() },
            { address: stellar.RECEIVER },
            { string: 'native' },
          ],
          data: { i128: '77' },
        },
      ],
      truncated: false,
    })
  })
})

describe('on Solana', () => {
  let story: solana.SolanaScenario
  beforeAll(async () => {
    story = await solana.startSolanaScenario()
  }, 60_000)
  afterAll(() => story.stop())

  test('a transfer has its slot, its compute units and its fee, and its log on request', async () => {
    const { id } = await story.send(solana.transfer(1_000n))
    expect(await story.reach(id, 'submitted')).not.toHaveProperty('receipt')
    expect(outcomeOf(await receiptOf(story, id))).toBe('400 transaction_not_included')
    const { hash, fee, receipt } = await story.tickUntil(id, 'confirmed')
    expect(receipt).toEqual({
      transaction_signature: hash,
      slot: expect.any(Number),
      block_time: expect.stringMatching(/\.000Z$/),
      compute_units: expect.any(Number),
      fee,
    })
    expect((await receiptsInEvents(story, id)).at(-1)).toEqual(['confirmed', receipt])
    const { status, body } = await receiptOf(story, id)
    expect([status, body.error]).toEqual([200, undefined])
    expect(body.data).toMatchObject({
      transaction_id: id,
      network_type: 'solana',
      receipt,
      succeeded: true,
      logs: expect.arrayContaining(['Program 11111111111111111111111111111111 success']),
      truncated: false,
    })
  })
})
