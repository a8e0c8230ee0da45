import { Keypair, StrKey, xdr } from '@stellar/stellar-sdk'
import { describe, expect, test } from 'vitest'
import type { PooledClient } from '../../../src/chains/rpc/rpc.ts'
import { showScVal } from '../../../src/chains/stellar/contract-spec/show-value.ts'
import { encodeScValue } from '../../../src/chains/stellar/encode.ts'
import { readEmitted } from '../../../src/chains/stellar/inclusion/receipts.ts'
import type { ScValue } from '../../../src/chains/stellar/model/operation.ts'

const ACCOUNT = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey()
const CONTRACT = StrKey.encodeContract(Buffer.alloc(32, 9))

describe('a value of a contract', () => {
  const VALUES: readonly ScValue[] = [
    'void',
    { bool: true },
    { u32: 4_294_967_295 },
    { i32: -2_147_483_648 },
    { u64: 2n ** 64n - 1n },
    { i64: -(2n ** 63n) },
    { timepoint: 1n },
    { duration: 2n },
    { u128: String(2n ** 128n - 1n) },
    { i128: String(-(2n ** 127n)) },
    { u256: String(2n ** 256n - 1n) },
    { i256: String(-(2n ** 255n)) },
    { bytes: 'beef' },
    { string: 'a text' },
    { symbol: 'a_symbol' },
    { address: ACCOUNT },
    { address: CONTRACT },
    { vec: [{ u32: 1 }, 'void'] },
    { map: [{ key: { symbol: 'a' }, val: { i128: '-1' } }] },
  ]

  test.each(
    VALUES.map((value) => ({ type: typeof value === 'string' ? value : Object.keys(value)[0], value })),
  )('of the type $type is shown in the notation in which a request has it', ({ value }) => {
    expect(showScVal(encodeScValue(value))).toEqual(value)
  })

  test('without a form in requests, or with a text that is no UTF-8, is XDR', () => {
    const key = xdr.ScVal.scvLedgerKeyContractInstance()
    expect(showScVal(key)).toEqual({ xdr: key.toXdr('base64') })
    const text = xdr.ScVal.scvString(Buffer.from('ff', 'hex'))
    expect(showScVal(text)).toEqual({ xdr: text.toXdr('base64') })
  })
})

describe('the events of a transaction', () => {
  const ext = xdr.ExtensionPoint.v0()

  function event(name: string, contract?: string): xdr.ContractEvent {
    return new xdr.ContractEvent({
      ext,
      contractId: contract === undefined ? null : new xdr.ContractId(StrKey.decodeContract(contract)),
      type: contract === undefined ? xdr.ContractEventType.system : xdr.ContractEventType.contract,
      body: xdr.ContractEventBody.v0(
        new xdr.ContractEventV0({ topics: [xdr.ScVal.scvSymbol(name)], data: xdr.ScVal.scvVoid() }),
      ),
    })
  }

  const staged = (name: string, stage: xdr.TransactionEventStage) =>
    new xdr.TransactionEvent({ stage, event: event(name, CONTRACT) })

  function answering(result: object): PooledClient {
    const reply = { kind: 'result' as const, result }
    return { sendAsOf: async () => [{ reply, behind: false }] } as unknown as PooledClient
  }

  const found = (meta: xdr.TransactionMeta) => ({
    status: 'SUCCESS',
    ledger: 7,
    resultMetaXdr: meta.toXdr('base64'),
  })

  test('stand in the order of their emission, with those of the fee around them', async () => {
    const { transactionEventStageBeforeAllTxs: before, transactionEventStageAfterAllTxs: after } =
      xdr.TransactionEventStage
    const operation = (...events: xdr.ContractEvent[]) =>
      new xdr.OperationMetaV2({ ext, changes: [], events })
    const meta = xdr.TransactionMeta.v4(
      new xdr.TransactionMetaV4({
        ext,
        txChangesBefore: [],
        operations: [operation(event('one', CONTRACT), event('two')), operation(event('three', CONTRACT))],
        txChangesAfter: [],
        sorobanMeta: null,
        events: [staged('refund', after), staged('fee', before)],
        diagnosticEvents: [],
      }),
    )
    const answer = await readEmitted(answering(found(meta)), 'aa')
    if (answer.kind !== 'ok' || answer.value.emitted.type !== 'stellar')
      throw new Error(JSON.stringify(answer))
    expect(answer.value).toMatchObject({ blockHash: '7', success: true, truncated: false })
    const shown = answer.value.emitted.events.map(({ type, contractId, topics }) => [
      type,
      contractId,
      topics[0],
    ])
    expect(shown).toEqual([
      ['contract', CONTRACT, { symbol: 'fee' }],
      ['contract', CONTRACT, { symbol: 'one' }],
      ['system', undefined, { symbol: 'two' }],
      ['contract', CONTRACT, { symbol: 'three' }],
      ['contract', CONTRACT, { symbol: 'refund' }],
    ])
  })

  test('are unknown when the node does not know the transaction, or its meta data cannot be read', async () => {
    for (const result of [
      { status: 'NOT_FOUND' },
      { status: 'SUCCESS', ledger: 7 },
      { status: 'SUCCESS', ledger: 7, resultMetaXdr: 'AAAA' },
    ])
      expect((await readEmitted(answering(result), 'aa')).kind).toBe('unknown')
  })
})
