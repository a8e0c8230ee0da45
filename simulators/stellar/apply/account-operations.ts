import { SignerKey, xdr } from '@stellar/stellar-sdk'
import { addressOf, baseAddress, larger } from '../state/assets.ts'
import {
  type AccountEntry,
  accountKey,
  dataKey,
  minimumBalance,
  newAccount,
  startingSequence,
  type Thresholds,
} from '../state/entries.ts'
import { accountIn, knownAccount } from '../state/state.ts'
import { countEntry, credit, debit, exists } from './balances.ts'
import type { OperationContext, Rule } from './rule.ts'

/** stellar-core CreateAccountOpFrame.cpp. */
export const createAccount: Rule<'createAccount'> = {
  level: () => 'medium',
  check({ createAccountOp: { destination, startingBalance } }, source) {
    const malformed = startingBalance < 0n || addressOf(destination) === source
    return malformed ? result('createAccountMalformed') : undefined
  },
  apply({ createAccountOp }, { changes, network, source, ledger }) {
    const account = newAccount(
      addressOf(createAccountOp.destination),
      createAccountOp.startingBalance,
      ledger,
    )
    if (exists(changes, account.address)) return result('createAccountAlreadyExist')
    if (account.balance < minimumBalance(account, network.baseReserve))
      return result('createAccountLowReserve')
    const problem = debit(changes, network, source, 'native', account.balance)
    if (problem) return result('createAccountUnderfunded')
    changes.set(account)
    return result('createAccountSuccess')
  },
}

function result(code: xdr.CreateAccountResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.createAccount(xdr.CreateAccountResult[code]()))
}

/** stellar-core MergeOpFrame.cpp. */
export const accountMerge: Rule<'accountMerge'> = {
  level: () => 'high',
  check: ({ destination }, source) =>
    baseAddress(destination) === source ? mergeResult('accountMergeMalformed') : undefined,
  apply({ destination }, { changes, source, ledger }) {
    const to = baseAddress(destination)
    if (!exists(changes, to)) return mergeResult('accountMergeNoAccount')
    const account = knownAccount(changes, source)
    if (account.flags & AUTH_IMMUTABLE_FLAG) return mergeResult('accountMergeImmutableSet')
    if (account.subEntries !== account.signers.length) return mergeResult('accountMergeHasSubEntries')
    // Made again in this ledger, its sequence would go back, and old transactions could be repeated.
    if (account.sequence >= startingSequence(ledger)) return mergeResult('accountMergeSeqnumTooFar')
    if (account.sponsoring > 0) return mergeResult('accountMergeIsSponsor')
    if (credit(changes, to, 'native', account.balance)) return mergeResult('accountMergeDestFull')
    changes.remove(accountKey(source))
    return inner(xdr.AccountMergeResult.accountMergeSuccess(account.balance))
  },
}

function mergeResult(
  code: Exclude<xdr.AccountMergeResultVariantName, 'accountMergeSuccess'>,
): xdr.OperationResult {
  return inner(xdr.AccountMergeResult[code]())
}

function inner(merge: xdr.AccountMergeResult): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.accountMerge(merge))
}

/** stellar-core BumpSequenceOpFrame.cpp; a bump to where the account is already, or was, does nothing. */
export const bumpSequence: Rule<'bumpSequence'> = {
  level: () => 'low',
  check: ({ bumpSequenceOp: { bumpTo } }) =>
    bumpTo < 0n ? bumpSequenceResult('bumpSequenceBadSeq') : undefined,
  apply({ bumpSequenceOp: { bumpTo } }, { changes, source, ledger, closeTime }) {
    const account = knownAccount(changes, source)
    const sequence = larger(bumpTo, account.sequence)
    changes.set({ ...account, sequence, sequenceLedger: ledger, sequenceTime: closeTime })
    return bumpSequenceResult('bumpSequenceSuccess')
  },
}

function bumpSequenceResult(code: xdr.BumpSequenceResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.bumpSequence(xdr.BumpSequenceResult[code]()))
}

/** The characters of a name or a domain (stellar-core `isStringValid`): ASCII without control characters. */
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** stellar-core ManageDataOpFrame.cpp. */
export const manageData: Rule<'manageData'> = {
  level: () => 'medium',
  check({ manageDataOp: { dataName } }) {
    const name = dataName.toString()
    return name === '' || !PRINTABLE_ASCII.test(name) ? manageDataResult('manageDataInvalidName') : undefined
  },
  apply({ manageDataOp: { dataName, dataValue } }, { changes, network, source }) {
    const name = dataName.toString()
    const known = changes.get(dataKey(source, name))
    if (!dataValue) {
      if (!known) return manageDataResult('manageDataNameNotFound')
      countEntry(changes, network, source, -1)
      changes.remove(dataKey(source, name))
      return manageDataResult('manageDataSuccess')
    }
    const problem = known ? undefined : countEntry(changes, network, source, 1)
    if (problem === 'tooMany') return xdr.OperationResult.opTooManySubentries()
    if (problem) return manageDataResult('manageDataLowReserve')
    changes.set({ kind: 'data', account: source, name, value: dataValue.toBytes() })
    return manageDataResult('manageDataSuccess')
  },
}

function manageDataResult(code: xdr.ManageDataResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.manageData(xdr.ManageDataResult[code]()))
}

/** Accounts that trust the account's credit must be authorised first (`AccountFlags`). */
export const AUTH_REQUIRED_FLAG = 1
/** It may take an authorisation back. */
const AUTH_REVOCABLE_FLAG = 2
/** These flags, and the account itself, can never change again. */
const AUTH_IMMUTABLE_FLAG = 4
/** It may take its credit back (CAP-35). */
export const AUTH_CLAWBACK_FLAG = 8
const ALL_FLAGS = 15
const MAX_WEIGHT = 255
const MAX_SIGNERS = 20

/** stellar-core SetOptionsOpFrame.cpp. The inflation destination is checked and otherwise forgotten: there is no inflation. */
export const setOptions: Rule<'setOptions'> = {
  level({ setOptionsOp: op }) {
    const guarded = [op.masterWeight, op.lowThreshold, op.medThreshold, op.highThreshold, op.signer]
    return guarded.some((value) => value !== null) ? 'high' : 'medium'
  },
  check({ setOptionsOp: op }, source) {
    const code = checkFlags(op) ?? checkWeights(op) ?? checkSigner(op, source)
    if (code) return setOptionsResult(code)
    const domain = op.homeDomain?.toString() ?? ''
    return PRINTABLE_ASCII.test(domain) ? undefined : setOptionsResult('setOptionsInvalidHomeDomain')
  },
  apply({ setOptionsOp: op }, context) {
    const { changes, source } = context
    if (op.inflationDest && !accountIn(changes, addressOf(op.inflationDest))) {
      return setOptionsResult('setOptionsInvalidInflation')
    }
    const account = knownAccount(changes, source)
    const flags = (account.flags & ~(op.clearFlags ?? 0)) | (op.setFlags ?? 0)
    if (account.flags & AUTH_IMMUTABLE_FLAG && (op.clearFlags || op.setFlags))
      return setOptionsResult('setOptionsCantChange')
    if (flags & AUTH_CLAWBACK_FLAG && !(flags & AUTH_REVOCABLE_FLAG))
      return setOptionsResult('setOptionsAuthRevocableRequired')
    changes.set({
      ...account,
      flags,
      homeDomain: op.homeDomain?.toString() ?? account.homeDomain,
      thresholds: changedThresholds(account, op),
    })
    return op.signer ? setSigner(op.signer, context) : setOptionsResult('setOptionsSuccess')
  },
}

type Code = xdr.SetOptionsResultVariantName

function checkFlags({ setFlags, clearFlags }: xdr.SetOptionsOp): Code | undefined {
  if (((setFlags ?? 0) | (clearFlags ?? 0)) & ~ALL_FLAGS) return 'setOptionsUnknownFlag'
  return (setFlags ?? 0) & (clearFlags ?? 0) ? 'setOptionsBadFlags' : undefined
}

function checkWeights(op: xdr.SetOptionsOp): Code | undefined {
  const weights = [op.masterWeight, op.lowThreshold, op.medThreshold, op.highThreshold]
  return weights.some((weight) => (weight ?? 0) > MAX_WEIGHT) ? 'setOptionsThresholdOutOfRange' : undefined
}

function checkSigner({ signer }: xdr.SetOptionsOp, source: string): Code | undefined {
  if (!signer) return undefined
  const { key, weight } = signer
  const empty =
    key.type === 'signerKeyTypeEd25519SignedPayload' && key.ed25519SignedPayload.payload.length === 0
  const bad = SignerKey.encodeSignerKey(key) === source || weight > MAX_WEIGHT || empty
  return bad ? 'setOptionsBadSigner' : undefined
}

function changedThresholds({ thresholds }: AccountEntry, op: xdr.SetOptionsOp): Thresholds {
  return {
    master: op.masterWeight ?? thresholds.master,
    low: op.lowThreshold ?? thresholds.low,
    medium: op.medThreshold ?? thresholds.medium,
    high: op.highThreshold ?? thresholds.high,
  }
}

function setSigner(signer: xdr.Signer, { changes, network, source }: OperationContext): xdr.OperationResult {
  const { weight } = signer
  const key = SignerKey.encodeSignerKey(signer.key)
  const { signers } = knownAccount(changes, source)
  const others = signers.filter((other) => other.key !== key)
  const isNew = others.length === signers.length
  if (weight > 0 && isNew) {
    if (signers.length === MAX_SIGNERS) return setOptionsResult('setOptionsTooManySigners')
    const problem = countEntry(changes, network, source, 1)
    if (problem === 'tooMany') return xdr.OperationResult.opTooManySubentries()
    if (problem) return setOptionsResult('setOptionsLowReserve')
  }
  if (weight === 0 && !isNew) countEntry(changes, network, source, -1)
  const next = weight > 0 ? [...others, { key, weight }] : others
  changes.set({ ...knownAccount(changes, source), signers: next })
  return setOptionsResult('setOptionsSuccess')
}

function setOptionsResult(code: Code): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.setOptions(xdr.SetOptionsResult[code]()))
}
