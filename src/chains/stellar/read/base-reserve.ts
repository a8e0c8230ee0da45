import type { Clock } from '../../../lib/time/clock.ts'
import type { Answer } from '../../answer.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { fieldsOf, readInteger } from './replies.ts'

/**
 * The base reserve while no endpoint has told one, in stroops: that of the public networks since 2019. A network that somebody starts anew
 * begins with 10 lumens, and validators may vote for any other.
 */
const USUAL_BASE_RESERVE = 5_000_000n

/**
 * The age in ms up to which the base reserve counts without a question. Validators change it by a vote, once in years, and nodes send the whole
 * ledger with its header: on pubnet a megabyte and more.
 */
const FRESH_FOR_MS = 600_000

/** The age in ms after which an endpoint that did not tell it is asked again. */
const RETRY_MS = 30_000

/** The header of the newest ledger, on servers since version 25. */
const LATEST: RpcCall = { method: 'getLatestLedger', params: {} }

/** Reads the amount in stroops that each entry of an account holds back, `baseReserve` of the ledger header. */
export interface BaseReserveReader {
  /**
   * Returns the last one that an endpoint told, asked for again when it is older than `maxAgeMs`; the usual one while none told it: a balance
   * is worth more with it than not at all.
   */
  read(maxAgeMs?: number): Promise<bigint>
}

/** Creates a reader that keeps the last answer. */
export function createBaseReserveReader(client: PooledClient, clock: Clock): BaseReserveReader {
  let known = USUAL_BASE_RESERVE
  let askedAt = Number.NEGATIVE_INFINITY
  let isTold = false
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    askedAt = clock.monotonic()
    const answer = await askBaseReserve(client)
    isTold = answer.kind === 'ok'
    if (answer.kind === 'ok') known = answer.value
  }

  return {
    async read(maxAgeMs = FRESH_FOR_MS) {
      const freshForMs = isTold ? maxAgeMs : RETRY_MS
      if (asking === undefined && clock.monotonic() - askedAt >= freshForMs) {
        asking = ask().finally(() => {
          asking = undefined
        })
      }
      await asking
      return known
    },
  }
}

async function askBaseReserve(client: PooledClient): Promise<Answer<bigint>> {
  const [reply] = await client.sendAsOf([LATEST])
  const latest = fieldsOf(reply?.reply)
  if (latest.kind !== 'ok') return latest
  const sequence = readInteger(latest.value.sequence)
  if (sequence === undefined) return UNTOLD
  if (typeof latest.value.headerXdr === 'string') return readHeader(latest.value.headerXdr, sequence)
  const [older] = await client.sendAsOf([ledgerCall(sequence)])
  const page = fieldsOf(older?.reply)
  if (page.kind !== 'ok') return page
  const [first] = Array.isArray(page.value.ledgers) ? (page.value.ledgers as unknown[]) : []
  const ledger = fieldsOf({ kind: 'result', result: first })
  return ledger.kind === 'ok' ? readHeader(ledger.value.headerXdr, sequence) : ledger
}

const UNTOLD = {
  kind: 'unknown',
  detail: 'the endpoint did not tell the header of its newest ledger',
} as const

/** Servers before version 25 tell the header here only. */
function ledgerCall(sequence: bigint): RpcCall {
  return { method: 'getLedgers', params: { startLedger: Number(sequence), pagination: { limit: 1 } } }
}

function readHeader(base64: unknown, sequence: bigint): Answer<bigint> {
  const reserve =
    typeof base64 === 'string' ? baseReserveIn(Buffer.from(base64, 'base64'), sequence) : undefined
  return reserve === undefined ? UNTOLD : { kind: 'ok', value: reserve }
}

/**
 * Bytes of `LedgerHeader` behind `baseReserve` (stellar-xdr `Stellar-ledger.x`): `maxTxSetSize` and four hashes, then the extension, which has
 * 4 bytes or 12.
 */
const AFTER_RESERVE = 4 + 4 * 32
const EXTENSIONS = [4, 12] as const

/** `LedgerHeaderHistoryEntry` has an extension of 4 bytes behind the header. */
const HISTORY_ENTRY = [0, 4] as const

/** Bytes from `ledgerSeq` to `baseReserve`: the number itself, `totalCoins`, `feePool`, `inflationSeq`, `idPool` and `baseFee`. */
const FROM_SEQUENCE = 4 + 8 + 8 + 4 + 8 + 4

/**
 * Reads `baseReserve` of a `LedgerHeader` or a `LedgerHeaderHistoryEntry` from its end. The part before can have a form that no version of the
 * SDK knows yet (`StellarValue`, CAP-88); the number of the ledger in its place shows that the rest is as expected.
 */
export function baseReserveIn(header: Buffer, sequence: bigint): bigint | undefined {
  for (const entry of HISTORY_ENTRY) {
    for (const extension of EXTENSIONS) {
      const at = header.length - entry - extension - AFTER_RESERVE - 4
      if (at < FROM_SEQUENCE) continue
      if (BigInt(header.readUInt32BE(at - FROM_SEQUENCE)) === sequence) return BigInt(header.readUInt32BE(at))
    }
  }
  return undefined
}
