import { xdr } from '@stellar/stellar-sdk'
import type { AppliedTransaction, ClosedLedger } from '../chain.ts'
import { toMetaXdr } from '../meta.ts'

type CloseMeta = Extract<xdr.LedgerCloseMeta, { type: 'v2' }>

/** A ledger with everything in it, as the network writes it (Stellar-ledger.x, `LedgerCloseMetaV2`). */
export function toCloseMeta(closed: ClosedLedger): CloseMeta {
  return xdr.LedgerCloseMeta.v2(
    new xdr.LedgerCloseMetaV2({
      ext: xdr.LedgerCloseMetaExt.v0(),
      ledgerHeader: new xdr.LedgerHeaderHistoryEntry({
        hash: new xdr.Hash(closed.hash),
        header: closed.header,
        ext: xdr.LedgerHeaderHistoryEntryExt.v0(),
      }),
      txSet: toTransactionSet(closed),
      txProcessing: closed.transactions.map(toResultMeta),
      upgradesProcessing: [],
      scpInfo: [],
      totalByteSizeOfLiveSorobanState: 0n,
      evictedKeys: [],
    }),
  )
}

/** One phase with one component: all of them at the ledger's price. */
function toTransactionSet({ header, baseFee, transactions }: ClosedLedger): xdr.GeneralizedTransactionSet {
  const component = xdr.TxSetComponent.txsetCompTxsMaybeDiscountedFee(
    new xdr.TxSetComponentTxsMaybeDiscountedFee({
      baseFee,
      txs: transactions.map(({ frame }) => frame.envelope),
    }),
  )
  return xdr.GeneralizedTransactionSet.v1TxSet(
    new xdr.TransactionSetV1({
      previousLedgerHash: header.previousLedgerHash,
      phases: [xdr.TransactionPhase.v0Components([component])],
    }),
  )
}

function toResultMeta({ frame, result, effects }: AppliedTransaction): xdr.TransactionResultMetaV1 {
  return new xdr.TransactionResultMetaV1({
    ext: xdr.ExtensionPoint.v0(),
    result: new xdr.TransactionResultPair({ transactionHash: new xdr.Hash(frame.hash), result }),
    feeProcessing: [],
    txApplyProcessing: toMetaXdr(effects),
    postTxApplyFeeProcessing: [],
  })
}
