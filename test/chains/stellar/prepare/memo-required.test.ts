import { Account, Asset, MuxedAccount, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import { accountWith, OTHER, PASSPHRASE, paymentOf, requestOf, SELF } from '../build.ts'
import { type Stage, setStage } from '../stage.ts'

let stage: Stage

/** The relayer's own account asks for a memo. */
beforeEach(async () => {
  stage = await setStage()
  await ask('1')
})
afterEach(() => stage.ledger.stop())

async function ask(value: string): Promise<void> {
  const base64 = Buffer.from(value).toString('base64')
  await stage.run(
    requestOf({ operations: [{ type: 'manage_data', name: 'config.memo_required', value: base64 }] }),
  )
}

const REFUSED = {
  kind: 'refused',
  refusal: {
    code: 'invalid_request',
    detail: `memo: a memo is expected, because ${SELF} accepts payments only with one (config.memo_required, SEP-29).`,
  },
}

describe('a receiver that asks for a memo (SEP-29)', () => {
  test.each([
    ['a payment', paymentOf(1n, SELF)],
    [
      'a path payment',
      {
        type: 'path_payment_strict_send',
        send_asset: { type: 'native' },
        send_amount: 1n,
        destination: SELF,
        dest_asset: { type: 'native' },
        dest_min: 1n,
        path: [],
      },
    ],
    ['a merge', { type: 'account_merge', destination: SELF, source: OTHER }],
  ] as const)('refuses %s without one, whatever is before it', async (_name, operation) => {
    const request = requestOf({ operations: [paymentOf(1n), operation] })
    expect(await stage.chain.prepare(request, accountWith())).toMatchObject(REFUSED)
  })

  test('takes it with one, and to a muxed address', async () => {
    const operations = [paymentOf(1n, SELF)]
    await stage.prepare(requestOf({ operations, memo: { type: 'id', value: 7n } }))
    const muxed = new MuxedAccount(new Account(SELF, '0'), '7').accountId()
    await stage.prepare(requestOf({ operations: [paymentOf(1n, muxed)] }))
  })

  test('is looked for in a prebuilt transaction, too', async () => {
    const pay = Operation.payment({ destination: SELF, asset: Asset.native(), amount: '1' })
    const built = new TransactionBuilder(new Account(SELF, '0'), {
      fee: '100',
      networkPassphrase: PASSPHRASE,
    })
    const transactionXdr = built.addOperation(pay).setTimeout(0).build().toXdr()
    expect(await stage.chain.prepare(requestOf({ transactionXdr }), accountWith())).toMatchObject({
      refusal: { detail: expect.stringContaining('transaction_xdr: a memo is expected') },
    })
  })

  test('is one only with the value 1', async () => {
    await ask('0')
    await stage.prepare(requestOf({ operations: [paymentOf(1n, SELF)] }))
  })

  test('is unknown while no node tells it, and asked for once a minute', async () => {
    const node = await startFaultyNode(stage.ledger.url)
    onTestFinished(node.stop)
    const chain = stage.chainAt(node.url)
    const request = requestOf({ operations: [paymentOf(1n), paymentOf(2n)] })
    node.habits = {
      refuse: ({ method }) =>
        method === 'getLedgerEntries' ? { code: -32603, message: 'could not query captive core' } : undefined,
    }
    expect(await chain.prepare(request, accountWith())).toMatchObject({ kind: 'unknown' })
    node.habits = {}
    const before = node.calls.get('getLedgerEntries') ?? 0
    for (const _ of [1, 2]) expect(await chain.prepare(request, accountWith())).toMatchObject({ kind: 'ok' })
    expect((node.calls.get('getLedgerEntries') ?? 0) - before).toBe(1)
    stage.clock.advance(60_001)
    await chain.prepare(request, accountWith())
    expect((node.calls.get('getLedgerEntries') ?? 0) - before).toBe(2)
  })
})
