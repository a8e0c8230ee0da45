import { xdr } from '@stellar/stellar-sdk'
import { toLedgerEntry, toLedgerKey } from './entry-xdr.ts'
import type { Change } from './state.ts'

/** The changes of a transaction, in the parts that the network distinguishes. */
export interface Effects {
  /** Its sequence number and one-time signers. */
  readonly before: readonly Change[]
  /** By each operation; empty when it failed. */
  readonly operations: readonly (readonly Change[])[]
  /** The refunds afterwards. */
  readonly after: readonly Change[]
  readonly contract?: ContractEffects
}

/** The effects of contract calls only. */
export interface ContractEffects {
  readonly returned: xdr.ScVal | null
  readonly events: readonly xdr.ContractEvent[]
  readonly nonRefundableFee: bigint
  readonly refundableFee: bigint
  readonly rentFee: bigint
}

/** The meta of a transaction as the network writes it since protocol 23 (CAP-67, `TransactionMetaV4`). */
export function toMetaXdr({ before, operations, after, contract }: Effects): xdr.TransactionMeta {
  const ext = xdr.ExtensionPoint.v0()
  return xdr.TransactionMeta.v4(
    new xdr.TransactionMetaV4({
      ext,
      txChangesBefore: toChanges(before),
      operations: operations.map(
        (changes) =>
          new xdr.OperationMetaV2({
            ext,
            changes: toChanges(changes),
            events: [...(contract?.events ?? [])],
          }),
      ),
      txChangesAfter: toChanges(after),
      sorobanMeta: contract ? toSorobanMeta(contract) : null,
      events: [],
      diagnosticEvents: [],
    }),
  )
}

function toSorobanMeta(contract: ContractEffects): xdr.SorobanTransactionMetaV2 {
  const fees = new xdr.SorobanTransactionMetaExtV1({
    ext: xdr.ExtensionPoint.v0(),
    totalNonRefundableResourceFeeCharged: contract.nonRefundableFee,
    totalRefundableResourceFeeCharged: contract.refundableFee,
    rentFeeCharged: contract.rentFee,
  })
  return new xdr.SorobanTransactionMetaV2({
    ext: xdr.SorobanTransactionMetaExt.v1(fees),
    returnValue: contract.returned,
  })
}

/** The state before, when there was one, and what became of it. */
function toChanges(changes: readonly Change[]): xdr.LedgerEntryChange[] {
  return changes.flatMap(({ before, after }): xdr.LedgerEntryChange[] => {
    if (!before) return after ? [xdr.LedgerEntryChange.ledgerEntryCreated(toLedgerEntry(after))] : []
    const state = xdr.LedgerEntryChange.ledgerEntryState(toLedgerEntry(before))
    return after
      ? [state, xdr.LedgerEntryChange.ledgerEntryUpdated(toLedgerEntry(after))]
      : [state, xdr.LedgerEntryChange.ledgerEntryRemoved(toLedgerKey(before))]
  })
}
