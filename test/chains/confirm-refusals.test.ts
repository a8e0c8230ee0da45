import { TransactionResult, TransactionResultExt, TransactionResultResult } from '@stellar/stellar-sdk/xdr'
import { expect, onTestFinished, test } from 'vitest'
import type { BroadcastResult } from '../../src/chains/answer.ts'
import { createRpcClient } from '../../src/chains/rpc/client.ts'
import { confirmRefusals } from '../../src/chains/rpc/refusals.ts'
import { NODE_DIALECT, readSent } from '../../src/chains/stellar/broadcast.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { answerWith, startRpcServer, type WireAnswer, type WireCall } from '../support/rpc-server.ts'

function errorOf(result: TransactionResultResult) {
  const whole = new TransactionResult({ feeCharged: 0n, result, ext: TransactionResultExt.v0() })
  return { status: 'ERROR', errorResultXdr: whole.toXdr('base64') }
}

const MALFORMED = errorOf(TransactionResultResult.txMalformed())
const LEDGER = { status: 'NOT_FOUND', latestLedger: 9, latestLedgerCloseTime: '1700000000' }
const sent = (result: unknown) => answerWith({ sendTransaction: result, getTransaction: LEDGER })

const REFUSED = { kind: 'refused', detail: 'tx_malformed' } as const

/** A first endpoint answered so to the bytes, and the second one answers like this. */
async function confirmWith(
  second: (calls: readonly WireCall[]) => WireAnswer,
  first: BroadcastResult = REFUSED,
) {
  const servers = await Promise.all([startRpcServer(sent(MALFORMED)), startRpcServer(second)])
  onTestFinished(async () => {
    await Promise.all(servers.map(({ stop }) => stop()))
  })
  const client = createRpcClient({
    ...NODE_DIALECT,
    urls: servers.map(({ url }) => ({ url, weight: 100 })),
    timeoutMs: 5_000,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    random: () => 0,
  })
  const calls = [{ method: 'sendTransaction', params: { transaction: 'AAAA' } }]
  const [result] = await confirmRefusals(client, { calls, results: [first], read: readSent })
  return result
}

test.each([
  ['has the bytes', sent({ status: 'DUPLICATE' }), { kind: 'accepted', known: true }],
  ['refuses them, too', sent(MALFORMED), REFUSED],
  ['wants them later', sent({ status: 'TRY_AGAIN_LATER' }), REFUSED],
  [
    'knows their sequence number as used',
    sent(errorOf(TransactionResultResult.txBadSeq())),
    { ...REFUSED, unanswered: true },
  ],
  ['is down', () => ({ status: 500, text: 'down' }), { ...REFUSED, unanswered: true }],
  ['answers with an unknown status', sent({ status: 'PERHAPS' }), { ...REFUSED, unanswered: true }],
] as const)(
  'a refusal is compared with the answer of another endpoint, which %s',
  async (_name, second, want) => {
    expect(await confirmWith(second)).toEqual(want)
  },
)

const LATER = { kind: 'later', detail: 'try_again_later' } as const

test.each([
  ['takes them', sent({ status: 'PENDING' }), { kind: 'accepted', known: true }],
  ['wants them later, too', sent({ status: 'TRY_AGAIN_LATER' }), LATER],
  ['refuses them', sent(MALFORMED), LATER],
  ['is down', () => ({ status: 500, text: 'down' }), LATER],
] as const)(
  'a request to try later is compared with the answer of another endpoint, which %s',
  async (_name, second, want) => {
    expect(await confirmWith(second, LATER)).toEqual(want)
  },
)
