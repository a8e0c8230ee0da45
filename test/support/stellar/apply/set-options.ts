import { SignerKey, xdr } from '@stellar/stellar-sdk'
import { addressOf } from '../assets.ts'
import type { AccountEntry, Thresholds } from '../entries.ts'
import { accountIn, knownAccount } from '../state.ts'
import { countEntry } from './balances.ts'
import { PRINTABLE_ASCII } from './manage-data.ts'
import type { OperationContext, Rule } from './rule.ts'

/** Accounts that trust the account's credit must be authorised first (`AccountFlags`). */
export const AUTH_REQUIRED_FLAG = 1
/** It may take an authorisation back. */
const AUTH_REVOCABLE_FLAG = 2
/** These flags, and the account itself, can never change again. */
export const AUTH_IMMUTABLE_FLAG = 4
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
    if (code) return result(code)
    const domain = op.homeDomain?.toString() ?? ''
    return PRINTABLE_ASCII.test(domain) ? undefined : result('setOptionsInvalidHomeDomain')
  },
  apply({ setOptionsOp: op }, context) {
    const { changes, source } = context
    if (op.inflationDest && !accountIn(changes, addressOf(op.inflationDest))) {
      return result('setOptionsInvalidInflation')
    }
    const account = knownAccount(changes, source)
    const flags = (account.flags & ~(op.clearFlags ?? 0)) | (op.setFlags ?? 0)
    if (account.flags & AUTH_IMMUTABLE_FLAG && (op.clearFlags || op.setFlags))
      return result('setOptionsCantChange')
    if (flags & AUTH_CLAWBACK_FLAG && !(flags & AUTH_REVOCABLE_FLAG))
      return result('setOptionsAuthRevocableRequired')
    changes.set({
      ...account,
      flags,
      homeDomain: op.homeDomain?.toString() ?? account.homeDomain,
      thresholds: changedThresholds(account, op),
    })
    return op.signer ? setSigner(op.signer, context) : result('setOptionsSuccess')
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
    if (signers.length === MAX_SIGNERS) return result('setOptionsTooManySigners')
    const problem = countEntry(changes, network, source, 1)
    if (problem === 'tooMany') return xdr.OperationResult.opTooManySubentries()
    if (problem) return result('setOptionsLowReserve')
  }
  if (weight === 0 && !isNew) countEntry(changes, network, source, -1)
  const next = weight > 0 ? [...others, { key, weight }] : others
  changes.set({ ...knownAccount(changes, source), signers: next })
  return result('setOptionsSuccess')
}

function result(code: Code): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.setOptions(xdr.SetOptionsResult[code]()))
}
