import { xdr } from '@stellar/stellar-sdk'
import type { Moment } from '../network.ts'
import { extendFootprintTtl, invokeHostFunction, restoreFootprint } from '../soroban/operations.ts'
import { baseAddress } from '../state/assets.ts'
import type { AccountEntry } from '../state/entries.ts'
import { accountIn } from '../state/state.ts'
import type { Transaction } from '../transaction/frame.ts'
import { type SignatureChecker, signersOf } from '../transaction/signatures.ts'
import { accountMerge, bumpSequence, createAccount, manageData, setOptions } from './account-operations.ts'
import { changeTrust } from './change-trust.ts'
import { claimClaimableBalance, createClaimableBalance } from './claimable-balance.ts'
import { pathPaymentStrictReceive, pathPaymentStrictSend, payment } from './payments.ts'
import type { OperationContext, Rule } from './rule.ts'

/** The context of a check before an operation is applied. */
export interface CheckContext {
  readonly transaction: Transaction
  readonly checker: SignatureChecker
  readonly moment: Moment
}

type Rules = { readonly [Type in xdr.OperationBodyVariantName]?: Rule<Type> }

/** The operations of this ledger; others are opNOT_SUPPORTED. */
const RULES: Rules = {
  createAccount,
  payment,
  pathPaymentStrictReceive,
  pathPaymentStrictSend,
  setOptions,
  changeTrust,
  accountMerge,
  manageData,
  bumpSequence,
  createClaimableBalance,
  claimClaimableBalance,
  invokeHostFunction,
  extendFootprintTtl,
  restoreFootprint,
}

/** The account that acts in an operation: its own source, or else the transaction's. */
export function sourceOf(operation: xdr.Operation, transaction: Transaction): string {
  return operation.sourceAccount ? baseAddress(operation.sourceAccount) : transaction.source
}

/** Signatures, then the operation by itself (`OperationFrame::checkValid`); undefined if it is good. */
export function checkOperation(
  operation: xdr.Operation,
  context: CheckContext,
): xdr.OperationResult | undefined {
  const rule = ruleFor(operation.body)
  if (!rule) return xdr.OperationResult.opNotSupported()
  const { transaction, moment } = context
  const unsigned = checkOperationSignature(operation, context)
  return unsigned ?? rule.check(operation.body, sourceOf(operation, transaction), moment.network)
}

/**
 * Returns true if the necessary signers of this operation have signed (`OperationFrame::checkSignature`). An account that an earlier
 * operation will create signs with its own key.
 */
export function checkOperationSignature(
  operation: xdr.Operation,
  { transaction, checker, moment }: CheckContext,
): xdr.OperationResult | undefined {
  const address = sourceOf(operation, transaction)
  const account = accountIn(moment.view, address)
  if (!account) {
    if (!operation.sourceAccount) return xdr.OperationResult.opNoAccount()
    const signed = checker.check([{ key: address, weight: 1 }], 0)
    return signed ? undefined : xdr.OperationResult.opBadAuth()
  }
  const needed = neededWeight(account, operation.body)
  return checker.check(signersOf(account), needed) ? undefined : xdr.OperationResult.opBadAuth()
}

/** Checks it against the ledger as it is now, and does it (`OperationFrame::apply`). */
export function applyOperation(operation: xdr.Operation, context: OperationContext): xdr.OperationResult {
  const rule = ruleFor(operation.body)
  if (!rule) return xdr.OperationResult.opNotSupported()
  if (!accountIn(context.changes, context.source)) return xdr.OperationResult.opNoAccount()
  return rule.check(operation.body, context.source, context.network) ?? rule.apply(operation.body, context)
}

function neededWeight({ thresholds }: AccountEntry, body: xdr.OperationBody): number {
  return thresholds[ruleFor(body)?.level(body) ?? 'medium']
}

/** The rule of the body's own type, which the compiler cannot see in a union. */
function ruleFor(body: xdr.OperationBody): Rule<xdr.OperationBodyVariantName> | undefined {
  return RULES[body.type] as Rule<xdr.OperationBodyVariantName> | undefined
}
