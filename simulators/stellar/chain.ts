import { createHash } from 'node:crypto'
import { xdr } from '@stellar/stellar-sdk'
import type { Network } from './network.ts'
import type { Effects } from './state/meta.ts'
import type { Frame } from './transaction/frame.ts'
import type { FrameResult } from './transaction/results.ts'

/** A transaction that is part of a ledger. */
export interface AppliedTransaction {
  readonly frame: Frame
  readonly frameResult: FrameResult
  readonly effects: Effects
  readonly ledger: number
  /** Its place in the ledger; the first is 1. */
  readonly order: number
  readonly result: xdr.TransactionResult
}

/** A ledger that has closed. */
export interface ClosedLedger {
  readonly sequence: number
  /** Seconds since 1970. */
  readonly closeTime: number
  /** SHA-256 of the header, in hex. */
  readonly hash: string
  readonly header: xdr.LedgerHeader
  /** The price of an operation: more than the network's base fee when the ledger was full. */
  readonly baseFee: bigint
  readonly transactions: readonly AppliedTransaction[]
}

/** All ledgers that have closed, in order; the first is the genesis. */
export interface Chain {
  readonly ledgers: readonly ClosedLedger[]
  latest(): ClosedLedger
  /** The ledger of that number; numbers beyond both ends give the nearest. */
  near(sequence: number): ClosedLedger
  append(closeTime: number, baseFee: bigint, transactions: readonly AppliedTransaction[]): ClosedLedger
  /** Finds a transaction by its hash or inner hash. */
  find(hash: string): AppliedTransaction | undefined
}

/** The genesis of a network is ledger 1; nothing is ever in it. */
const GENESIS_SEQUENCE = 1
const NO_HASH = '0'.repeat(64)

/** Starts a chain with its genesis. */
export function createChain(network: Network, closeTime: number): Chain {
  const ledgers: ClosedLedger[] = []
  const byHash = new Map<string, AppliedTransaction>()
  const append: Chain['append'] = (time, baseFee, transactions) => {
    const sequence = GENESIS_SEQUENCE + ledgers.length
    const header = createHeader(network, sequence, time, ledgers.at(-1)?.hash ?? NO_HASH)
    const hash = createHash('sha256').update(header.toXdr()).digest('hex')
    const closed: ClosedLedger = { sequence, closeTime: time, hash, header, baseFee, transactions }
    ledgers.push(closed)
    for (const applied of transactions) {
      byHash.set(applied.frame.hash, applied)
      byHash.set(applied.frame.transaction.hash, applied)
    }
    return closed
  }
  const genesis = append(closeTime, network.baseFee, [])
  return {
    ledgers,
    latest: () => ledgers.at(-1) ?? genesis,
    near(sequence) {
      const index = Math.min(Math.max(sequence - GENESIS_SEQUENCE, 0), ledgers.length - 1)
      return ledgers[index] ?? genesis
    },
    append,
    find: (hash) => byHash.get(hash),
  }
}

/** Only what clients read is true; there are no buckets, upgrades or votes here. */
function createHeader(
  network: Network,
  ledgerSeq: number,
  closeTime: number,
  previous: string,
): xdr.LedgerHeader {
  const none = new xdr.Hash(NO_HASH)
  return new xdr.LedgerHeader({
    ledgerVersion: network.protocolVersion,
    previousLedgerHash: new xdr.Hash(previous),
    scpValue: new xdr.StellarValue({
      txSetHash: none,
      closeTime: BigInt(closeTime),
      upgrades: [],
      ext: xdr.StellarValueExt.stellarValueBasic(),
    }),
    txSetResultHash: none,
    bucketListHash: none,
    ledgerSeq,
    totalCoins: 1_000_000_000_000_000_000n,
    feePool: 0n,
    inflationSeq: 0,
    idPool: 0n,
    baseFee: Number(network.baseFee),
    baseReserve: Number(network.baseReserve),
    maxTxSetSize: 1000,
    skipList: [none, none, none, none],
    ext: xdr.LedgerHeaderExt.v0(),
  })
}
