import {
  BumpSequenceOp,
  ChangeTrustOp,
  ClaimableBalanceId,
  Claimant,
  ClaimantV0,
  ClaimClaimableBalanceOp,
  ClaimPredicate,
  CreateAccountOp,
  CreateClaimableBalanceOp,
  ManageDataOp,
  type MuxedAccount,
  Operation,
  OperationBody,
  PathPaymentStrictReceiveOp,
  PathPaymentStrictSendOp,
  PaymentOp,
} from '@stellar/stellar-sdk/xdr'
import type { ClaimPredicate as Predicate, StellarOperation } from '../model/operation.ts'
import { toMuxedAccount, toPublicKey } from '../model/strkey.ts'
import { encodeAsset, encodeTrustLine } from './asset.ts'
import { encodeSetOptions } from './set-options.ts'
import { encodeSoroban } from './soroban.ts'

/** The largest amount that a trust line can hold, which is its default limit. */
const MAX_AMOUNT = 2n ** 63n - 1n

/** Encodes a checked operation as XDR. Without a source of its own it has the transaction's. */
export function encodeOperation(operation: StellarOperation, source?: MuxedAccount): Operation {
  return new Operation({ sourceAccount: source ?? null, body: encodeBody(operation) })
}

function encodeBody(operation: StellarOperation): OperationBody {
  // The table maps each type to the encoder of that type, which the compiler cannot follow through an index.
  const encode = ENCODERS[operation.type] as (operation: StellarOperation) => OperationBody
  return encode(operation)
}

type Encoders = {
  readonly [T in StellarOperation['type']]: (
    operation: Extract<StellarOperation, { type: T }>,
  ) => OperationBody
}

const ENCODERS: Encoders = {
  payment: ({ destination, asset, amount }) =>
    OperationBody.payment(
      new PaymentOp({ destination: toMuxedAccount(destination), asset: encodeAsset(asset), amount }),
    ),
  create_account: ({ destination, starting_balance: startingBalance }) =>
    OperationBody.createAccount(
      new CreateAccountOp({ destination: toPublicKey(destination), startingBalance }),
    ),
  change_trust: ({ asset, limit = MAX_AMOUNT }) =>
    OperationBody.changeTrust(new ChangeTrustOp({ line: encodeTrustLine(asset), limit })),
  path_payment_strict_send: (operation) =>
    OperationBody.pathPaymentStrictSend(
      new PathPaymentStrictSendOp({
        sendAsset: encodeAsset(operation.send_asset),
        sendAmount: operation.send_amount,
        destination: toMuxedAccount(operation.destination),
        destAsset: encodeAsset(operation.dest_asset),
        destMin: operation.dest_min,
        path: (operation.path ?? []).map(encodeAsset),
      }),
    ),
  path_payment_strict_receive: (operation) =>
    OperationBody.pathPaymentStrictReceive(
      new PathPaymentStrictReceiveOp({
        sendAsset: encodeAsset(operation.send_asset),
        sendMax: operation.send_max,
        destination: toMuxedAccount(operation.destination),
        destAsset: encodeAsset(operation.dest_asset),
        destAmount: operation.dest_amount,
        path: (operation.path ?? []).map(encodeAsset),
      }),
    ),
  manage_data: ({ name, value }) =>
    OperationBody.manageData(
      new ManageDataOp({ dataName: name, dataValue: value === null ? null : Buffer.from(value, 'base64') }),
    ),
  set_options: encodeSetOptions,
  account_merge: ({ destination }) => OperationBody.accountMerge(toMuxedAccount(destination)),
  create_claimable_balance: ({ asset, amount, claimants }) =>
    OperationBody.createClaimableBalance(
      new CreateClaimableBalanceOp({
        asset: encodeAsset(asset),
        amount,
        claimants: claimants.map(({ destination, predicate }) =>
          Claimant.claimantTypeV0(
            new ClaimantV0({ destination: toPublicKey(destination), predicate: encodePredicate(predicate) }),
          ),
        ),
      }),
    ),
  claim_claimable_balance: ({ balance_id: id }) =>
    OperationBody.claimClaimableBalance(
      new ClaimClaimableBalanceOp({ balanceId: ClaimableBalanceId.fromXdr(id, 'hex') }),
    ),
  bump_sequence: ({ bump_to: bumpTo }) => OperationBody.bumpSequence(new BumpSequenceOp({ bumpTo })),
  invoke_contract: encodeSoroban,
  create_contract: encodeSoroban,
  upload_wasm: encodeSoroban,
  restore_footprint: encodeSoroban,
}

/** Encodes the time at which a balance may be claimed as XDR; an absent predicate means any time. */
function encodePredicate(predicate: Predicate | undefined): ClaimPredicate {
  const { before_absolute_time: absolute, before_relative_time: relative, not, and, or } = predicate ?? {}
  if (absolute !== undefined) return ClaimPredicate.claimPredicateBeforeAbsoluteTime(absolute)
  if (relative !== undefined) return ClaimPredicate.claimPredicateBeforeRelativeTime(relative)
  if (not !== undefined) return ClaimPredicate.claimPredicateNot(encodePredicate(not))
  if (and !== undefined) return ClaimPredicate.claimPredicateAnd(and.map(encodePredicate))
  if (or !== undefined) return ClaimPredicate.claimPredicateOr(or.map(encodePredicate))
  return ClaimPredicate.claimPredicateUnconditional()
}
