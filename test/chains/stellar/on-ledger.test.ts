import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  accountWith,
  addressOf,
  attemptOf,
  channelSigningContextAt,
  known,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signingContextAt,
} from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

let stage: Stage

beforeEach(async () => {
  stage = await setStage()
})

afterEach(() => stage.ledger.stop())

describe('a payment', () => {
  test('is prepared, signed, sent, and found in the ledger that holds it', async () => {
    const draft = await stage.prepare(
      requestOf({ operations: [paymentOf(5n * XLM)], memo: { type: 'text', value: 'hi' } }),
    )
    const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
    expect(await stage.chain.receipts([signed.hash])).toEqual([{ kind: 'none' }])
    expect(await stage.chain.broadcast([signed.raw, signed.raw])).toEqual([
      { kind: 'accepted' },
      { kind: 'accepted', known: true },
    ])
    const closed = stage.ledger.close()
    const head = known(await stage.chain.head())
    expect(head).toEqual({
      number: BigInt(closed.sequence),
      hash: String(closed.sequence),
      expiredUpTo: BigInt(closed.closeTime),
      time: new Date(closed.closeTime * 1_000),
    })
    const [answer] = await stage.chain.receipts([signed.hash], { asOf: head.number })
    expect(answer).toMatchObject({
      kind: 'included',
      receipt: {
        hash: signed.hash,
        blockNumber: head.number,
        blockHash: head.number.toString(),
        success: true,
        final: true,
        result: { feeCharged: 100n },
      },
    })
    expect(stage.ledger.account(OTHER)?.balance).toBe(105n * XLM)
    expect(stage.ledger.account(SELF)?.balance).toBe(95n * XLM - 100n)
  })
})

describe('a replacement', () => {
  test('goes out inside a fee bump at ten times the rate, and it alone is included', async () => {
    const nonce = await stage.nonce()
    const first = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const signed = await stage.chain.sign(first, signingContextAt(nonce))
    expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    const attempt = attemptOf(first, { nonce, signed })
    const answer = await stage.chain.replace(
      requestOf({ operations: [paymentOf(2n * XLM)] }),
      [attempt],
      accountWith(),
    )
    if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer))
    const replacement = answer.value.draft
    expect(replacement).toMatchObject({ bumped: true, feePerOperation: 1_000n })
    const second = await stage.chain.sign(replacement, signingContextAt(nonce))
    expect(await stage.chain.broadcast([second.raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
    const { number } = known(await stage.chain.head())
    const [old, now] = await stage.chain.receipts([signed.hash, second.hash], { asOf: number })
    expect(old).toEqual({ kind: 'none' })
    expect(now).toMatchObject({ kind: 'included', receipt: { success: true } })
    expect(stage.ledger.account(OTHER)?.balance).toBe(102n * XLM)
  })

  test('with a stroop less is refused by the node, and says what would do', async () => {
    const nonce = await stage.nonce()
    const first = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    await stage.chain.broadcast([(await stage.chain.sign(first, signingContextAt(nonce))).raw])
    const short = {
      ...(await stage.prepare(requestOf({ operations: [paymentOf(2n)] }))),
      bumped: true,
      feePerOperation: 999n,
    }
    const { raw } = await stage.chain.sign(short, signingContextAt(nonce))
    expect(await stage.chain.broadcast([raw])).toEqual([
      {
        kind: 'underpriced',
        detail: 'tx_insufficient_fee: a fee of at least 2000 stroops is expected',
        minimum: 2_000n,
      },
    ])
  })
})

describe('a channel account', () => {
  test('gives the number, and the relayer pays and acts', async () => {
    const channel = addressOf('channel')
    const request = await stage.chain.channels.open([channel], accountWith())
    const opening = await stage.chain.sign(
      await stage.prepare(request),
      signingContextAt(await stage.nonce()),
    )
    await stage.chain.broadcast([opening.raw])
    stage.ledger.close()
    const before = stage.ledger.account(SELF)?.balance ?? 0n
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(XLM)] }))
    const signed = await stage.chain.sign(draft, channelSigningContextAt(await stage.nonce(channel)))
    expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
    expect(await stage.chain.receipts([signed.hash])).toMatchObject([
      { kind: 'included', receipt: { success: true } },
    ])
    expect(stage.ledger.account(channel)?.balance).toBe(XLM)
    expect(before - (stage.ledger.account(SELF)?.balance ?? 0n)).toBe(XLM + 200n)
    expect(stage.chain.cost(draft)).toBeGreaterThanOrEqual(XLM + 200n)
  })
})

test('a failure is told in the words of the protocol', async () => {
  const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n), paymentOf(1_000n * XLM)] }))
  const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
  await stage.chain.broadcast([signed.raw])
  stage.ledger.close()
  expect(await stage.chain.receipts([signed.hash])).toMatchObject([
    {
      kind: 'included',
      receipt: { success: false, failure: 'tx_failed, operations[1] payment_underfunded' },
    },
  ])
})
