import { xdr } from '@stellar/stellar-sdk'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { baseReserveIn } from '../../../src/chains/stellar/read/accounts.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { accountWith, addressOf, known, SELF, signingContextAt } from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

let stage: Stage | undefined

afterEach(() => stage?.ledger.stop())

const HIGH = 10n * XLM

describe('the base reserve', () => {
  test.each([25, 30])('is that of the ledger, with protocol %i', async (protocolVersion) => {
    stage = await setStage({ protocolVersion, baseReserve: HIGH })
    expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 80n * XLM })
    expect(known(await stage.chain.funding.read(addressOf('nobody')))).toEqual({
      spendable: 0n,
      missingReserve: 20n * XLM,
      exists: false,
    })
    const request = await stage.chain.channels.open([addressOf('channel')], accountWith())
    expect(request.operations).toMatchObject([{ type: 'create_account', starting_balance: 20n * XLM }])
    const signed = await stage.chain.sign(await stage.prepare(request), signingContextAt(await stage.nonce()))
    await stage.chain.broadcast([signed.raw])
    stage.ledger.close()
    expect(stage.ledger.account(addressOf('channel'))?.balance).toBe(20n * XLM)
  })

  test('is read from getLedgers where a server tells no header of its newest ledger', async () => {
    stage = await setStage({ baseReserve: HIGH })
    const old = await startFaultyNode(stage.ledger.url)
    onTestFinished(old.stop)
    old.habits = {
      lie: ({ method }, reply) => {
        if (method !== 'getLatestLedger') return reply
        const { headerXdr: _, ...result } = reply.result as Record<string, unknown>
        return { ...reply, result }
      },
    }
    expect(await stage.chainAt(old.url).balance(SELF)).toEqual({ kind: 'ok', value: 80n * XLM })
    expect(old.calls.get('getLedgers')).toBe(1)
  })

  test('is the usual one while no endpoint tells it, so that a balance is known all the same', async () => {
    stage = await setStage({ baseReserve: HIGH })
    const silent = await startFaultyNode(stage.ledger.url)
    onTestFinished(silent.stop)
    silent.habits = {
      refuse: ({ method }) =>
        method === 'getLatestLedger' ? { code: -32601, message: 'method not found' } : undefined,
    }
    expect(await stage.chainAt(silent.url).balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM })
  })

  test('is asked for once, whoever reads', async () => {
    stage = await setStage({ baseReserve: HIGH })
    const counting = await startFaultyNode(stage.ledger.url)
    onTestFinished(counting.stop)
    const chain = stage.chainAt(counting.url)
    for (let reads = 0; reads < 5; reads += 1) await chain.balance(SELF)
    expect(counting.calls.get('getLatestLedger')).toBe(1)
  })
})

describe('a ledger header', () => {
  test.each([
    ['without an extension', xdr.LedgerHeaderExt.v0()],
    [
      'with flags',
      xdr.LedgerHeaderExt.v1(
        new xdr.LedgerHeaderExtensionV1({ flags: 1, ext: xdr.LedgerHeaderExtensionV1Ext.v0() }),
      ),
    ],
  ])('%s is read from its end', async (_, ext) => {
    stage = await setStage({ baseReserve: HIGH })
    const { header, sequence } = stage.ledger.ledgers.at(-1) ?? { sequence: 0 }
    if (header === undefined) throw new Error('no ledger')
    const bytes = Buffer.from(new xdr.LedgerHeader({ ...header, ext }).toXdr())
    expect(baseReserveIn(bytes, BigInt(sequence))).toBe(HIGH)
    expect(
      baseReserveIn(Buffer.concat([Buffer.alloc(32, 7), bytes, Buffer.alloc(4)]), BigInt(sequence)),
    ).toBe(HIGH)
  })

  test('of another ledger, or of a form that is not known, is not read', async () => {
    stage = await setStage({ baseReserve: HIGH })
    const { header, sequence = 0 } = stage.ledger.ledgers.at(-1) ?? {}
    const bytes = Buffer.from(header?.toXdr() ?? '')
    expect(baseReserveIn(bytes, BigInt(sequence + 1))).toBeUndefined()
    expect(baseReserveIn(Buffer.concat([bytes, Buffer.alloc(6)]), BigInt(sequence))).toBeUndefined()
    expect(baseReserveIn(Buffer.alloc(0), 1n)).toBeUndefined()
  })
})
