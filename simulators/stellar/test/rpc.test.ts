import { Asset, Keypair, Operation, xdr } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Desk, hashOf, openDesk, XLM } from './desk.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.ledger.stop())

const NOTHING = Operation.bumpSequence({ bumpTo: '0' })

async function post(body: unknown, url = desk.ledger.url): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return answer.json()
}

const call = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })

describe('JSON-RPC', () => {
  test('answers a batch in its order', async () => {
    expect(await post([call('getNetwork', undefined, 'a'), call('getHealth', undefined, 'b')])).toMatchObject(
      [
        { id: 'a', result: { passphrase: 'Standalone Network ; February 2017', protocolVersion: 25 } },
        { id: 'b', result: { status: 'healthy', latestLedger: 1 } },
      ],
    )
  })

  test.each([
    ['a method no one knows', call('getAccount', {}), -32601],
    ['events of a ledger that is not there', call('getEvents', { startLedger: 7 }), -32600],
    ['parameters without names', call('getTransaction', ['aa']), -32602],
    ['a hash that is none', call('getTransaction', { hash: 'aa' }), -32602],
    ['an envelope that is none', call('sendTransaction', { transaction: 'AAAA' }), -32602],
    ['a key that is none', call('getLedgerEntries', { keys: ['AAAA'] }), -32602],
    ['a ledger that is not there', call('getTransactions', { startLedger: 7 }), -32602],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['no JSON', '{', -32700],
  ])('%s', async (_name, body, code) => {
    expect(await post(body)).toMatchObject({ error: { code } })
  })
})

describe('fault', () => {
  const send = () => call('sendTransaction', { transaction: desk.build(desk.person(), [NOTHING]).toXdr() })

  test.each([
    ['core_gone', -32603, 'could not submit transaction to stellar-core'],
    ['core_exception', -32603, 'received exception from stellar-core'],
    ['filtered', -32603, 'invalid status from stellar-core'],
    ['too_slow', -32001, 'request exceeded processing limit threshold'],
    ['panicking', -32003, 'request failed to process due to internal issue'],
  ] as const)('%s is an error of JSON-RPC, and nothing waits', async (nodeFault, code, message) => {
    const request = send()
    desk.ledger.setNodeFault(nodeFault)
    expect(await post(request)).toMatchObject({ error: { code, message } })
    desk.ledger.setNodeFault('none')
    expect(desk.ledger.queue()).toEqual([])
    expect(await post(request)).toMatchObject({ result: { status: 'PENDING' } })
  })

  test('of the core does not concern what the server has itself', async () => {
    desk.ledger.setNodeFault('core_gone')
    expect(await post(call('getTransaction', { hash: '0'.repeat(64) }))).toMatchObject({
      result: { status: 'NOT_FOUND' },
    })
    expect(await post(call('getLedgerEntries', { keys: [] }))).toMatchObject({ error: { code: -32603 } })
  })
})

test('a ledger that closes during a search is told of and was not searched', async () => {
  const transaction = desk.build(desk.person(), [NOTHING])
  await post(call('sendTransaction', { transaction: transaction.toXdr() }))
  desk.ledger.close()
  desk.ledger.tearReads(1)
  const search = call('getTransaction', { hash: hashOf(transaction) })
  const { sequence } = desk.ledger.close(0)
  expect(await post(search)).toMatchObject({ result: { status: 'NOT_FOUND', latestLedger: sequence } })
  expect(await post(search)).toMatchObject({ result: { status: 'SUCCESS', ledger: sequence } })
})

describe('transactions', () => {
  test('are described with the types that stellar-rpc has on the wire', async () => {
    const transaction = desk.build(desk.person(), [NOTHING])
    const sent = await post(call('sendTransaction', { transaction: transaction.toXdr() }))
    expect(sent).toMatchObject({
      result: {
        status: 'PENDING',
        hash: hashOf(transaction),
        latestLedger: 1,
        latestLedgerCloseTime: expect.stringMatching(/^\d+$/),
      },
    })
    const { closeTime } = desk.ledger.close()
    const found = await post(call('getTransaction', { hash: hashOf(transaction) }))
    expect(found).toMatchObject({
      result: {
        status: 'SUCCESS',
        ledger: 2,
        createdAt: String(closeTime),
        applicationOrder: 1,
        feeBump: false,
        latestLedgerCloseTime: String(closeTime),
        oldestLedger: 1,
      },
    })
  })

  test('tell in their meta what they changed', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const pay = Operation.payment({ destination: bob.publicKey(), asset: Asset.native(), amount: '1' })
    const transaction = desk.build(alice, [pay])
    await desk.apply(transaction)
    const found = await desk.look(transaction)
    const meta =
      found.status === 'SUCCESS' && found.resultMetaXdr.type === 'v4' ? found.resultMetaXdr.v4 : undefined
    const types = meta?.operations[0]?.changes.map(({ type }) => type)
    expect(types).toEqual([
      'ledgerEntryState',
      'ledgerEntryUpdated',
      'ledgerEntryState',
      'ledgerEntryUpdated',
    ])
    expect(meta?.txChangesBefore.map(({ type }) => type)).toEqual(['ledgerEntryState', 'ledgerEntryUpdated'])
  })

  test('are listed in the order of application, page by page', async () => {
    const all = await Promise.all(
      [1, 2, 3].map(async () => {
        const transaction = desk.build(desk.person(), [NOTHING])
        await desk.send(transaction)
        return hashOf(transaction)
      }),
    )
    desk.ledger.close()
    const first = await desk.client.getTransactions({ startLedger: 1, pagination: { limit: 2 } })
    const rest = await desk.client.getTransactions({ pagination: { cursor: first.cursor, limit: 2 } })
    const listed = [...first.transactions, ...rest.transactions]
    expect(listed.map(({ applicationOrder }) => applicationOrder)).toEqual([1, 2, 3])
    expect(listed.map(({ txHash }) => txHash).sort()).toEqual(all.sort())
  })

  test('are forgotten when they are older than the retention', async () => {
    const short = await openDesk({ retentionLedgers: 3 })
    try {
      const transaction = short.build(short.person(), [NOTHING])
      await short.apply(transaction)
      short.ledger.close(2)
      expect((await short.look(transaction)).status).toBe('SUCCESS')
      short.ledger.close()
      expect(await short.look(transaction)).toMatchObject({
        status: 'NOT_FOUND',
        oldestLedger: 3,
        latestLedger: 5,
      })
    } finally {
      await short.ledger.stop()
    }
  })
})

describe('ledgers', () => {
  test('close at whole seconds that only grow', () => {
    const times = [desk.ledger.close(), desk.ledger.close(2), desk.ledger.close({ seconds: 100 })]
    const all = desk.ledger.ledgers.map(({ closeTime }) => closeTime)
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b))
    expect((times[2]?.closeTime ?? 0) - (times[1]?.closeTime ?? 0)).toBe(100)
  })

  test('follow the clock of the options', async () => {
    let now = 2_000_000_000_500
    const timed = await openDesk({ now: () => now })
    try {
      expect(timed.ledger.ledgers[0]?.closeTime).toBe(2_000_000_000)
      now += 60_000
      expect(timed.ledger.close().closeTime).toBe(2_000_000_060)
      expect(timed.ledger.close().closeTime).toBe(2_000_000_061)
    } finally {
      await timed.ledger.stop()
    }
  })

  test('are linked by their hashes', async () => {
    desk.ledger.close(2)
    const { ledgers } = await desk.client.getLedgers({ startLedger: 1, pagination: { limit: 3 } })
    const previous = ledgers.map(({ headerXdr }) => headerXdr.header.previousLedgerHash.toString())
    expect(previous.slice(1)).toEqual(ledgers.slice(0, 2).map(({ hash }) => hash))
    expect(await desk.client.getLatestLedger()).toMatchObject({ id: ledgers[2]?.hash, sequence: 3 })
  })

  test('close by themselves when they are to', async () => {
    const living = await openDesk({ closeEveryMs: 20 })
    try {
      const transaction = living.build(living.person(), [NOTHING])
      await living.send(transaction)
      await expect.poll(async () => (await living.look(transaction)).status).toBe('SUCCESS')
    } finally {
      await living.ledger.stop()
    }
  })
})

describe('entries', () => {
  test('are not told when a key comes twice', async () => {
    const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: desk.person().xdrAccountId() }))
    const keys = [key.toXdr('base64'), key.toXdr('base64')]
    expect(await post(call('getLedgerEntries', { keys }))).toMatchObject({ error: { code: -32603 } })
  })

  test('come in the order of the keys, without those that do not exist', async () => {
    const [alice, bob] = [desk.person(5n * XLM), desk.person(7n * XLM)]
    const keys = [bob, Keypair.random(), alice].map((keys) =>
      xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: keys.xdrAccountId() })),
    )
    const { entries, latestLedger } = await desk.client.getLedgerEntries(...keys)
    const balances = entries.map(({ val }) => (val.type === 'account' ? val.account.balance : undefined))
    expect(balances).toEqual([7n * XLM, 5n * XLM])
    expect(latestLedger).toBe(1)
  })
})

describe('a replica that is late', () => {
  test('tells of an older network in everything, and passes on what it is sent', async () => {
    const alice = desk.person()
    const url = desk.ledger.replica({ behind: 2 })
    desk.ledger.close(2)
    const before = desk.ledger.account(alice.publicKey())?.sequence ?? 0n
    const transaction = desk.build(alice, [NOTHING])
    const sent = await post(call('sendTransaction', { transaction: transaction.toXdr() }), url)
    expect(sent).toMatchObject({ result: { status: 'PENDING', latestLedger: 1 } })
    desk.ledger.close()
    const hash = hashOf(transaction)
    const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: alice.xdrAccountId() }))
    const keys = [key.toXdr('base64')]
    const asked = [
      call('getTransaction', { hash }),
      call('getLatestLedger'),
      call('getLedgerEntries', { keys }),
    ]
    const late = (await post(asked, url)) as { result: { entries?: { xdr: string }[] } }[]
    expect(late).toMatchObject([
      { result: { status: 'NOT_FOUND', latestLedger: 2 } },
      { result: { sequence: 2 } },
      { result: { latestLedger: 2 } },
    ])
    const entry = xdr.LedgerEntryData.fromXdr(late[2]?.result.entries?.[0]?.xdr ?? '', 'base64')
    expect(entry.type === 'account' && entry.account.seqNum).toBe(before)
    desk.ledger.close(2)
    expect(await post(call('getTransaction', { hash }), url)).toMatchObject({
      result: { status: 'SUCCESS', ledger: 4 },
    })
  })
})
