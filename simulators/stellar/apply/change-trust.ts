import { xdr } from '@stellar/stellar-sdk'
import { assetName, issuerOf, isValidAsset } from '../state/assets.ts'
import { trustlineKey } from '../state/entries.ts'
import { accountIn, trustlineIn } from '../state/state.ts'
import { AUTH_CLAWBACK_FLAG, AUTH_REQUIRED_FLAG } from './account-operations.ts'
import { AUTHORIZED_FLAG, countEntry } from './balances.ts'
import type { OperationContext, Rule } from './rule.ts'

/** The issuer may take the balance back (`TRUSTLINE_CLAWBACK_ENABLED_FLAG`, CAP-35). */
const CLAWBACK_ENABLED_FLAG = 4

/** stellar-core ChangeTrustOpFrame.cpp, except for pool shares, which this ledger does not have. */
export const changeTrust: Rule<'changeTrust'> = {
  level: () => 'medium',
  check({ changeTrustOp: { line, limit } }, source) {
    if (limit < 0n || line.type === 'assetTypeNative') return result('changeTrustMalformed')
    if (line.type === 'assetTypePoolShare') return xdr.OperationResult.opNotSupported()
    if (!isValidAsset(line) || issuerOf(assetName(line)) === source) return result('changeTrustMalformed')
    return undefined
  },
  apply({ changeTrustOp: { line, limit } }, context) {
    if (line.type === 'assetTypeNative' || line.type === 'assetTypePoolShare') {
      return xdr.OperationResult.opNotSupported()
    }
    const asset = assetName(line)
    const known = trustlineIn(context.changes, context.source, asset)
    if (!known) return open(asset, limit, context)
    if (limit < known.balance) return result('changeTrustInvalidLimit')
    if (limit === 0n) {
      countEntry(context.changes, context.network, context.source, -1)
      context.changes.remove(trustlineKey(context.source, asset))
      return result('changeTrustSuccess')
    }
    if (!accountIn(context.changes, issuerOf(asset) ?? '')) return result('changeTrustNoIssuer')
    context.changes.set({ ...known, limit })
    return result('changeTrustSuccess')
  },
}

function open(
  asset: string,
  limit: bigint,
  { changes, network, source }: OperationContext,
): xdr.OperationResult {
  if (limit === 0n) return result('changeTrustInvalidLimit')
  const issuer = accountIn(changes, issuerOf(asset) ?? '')
  if (!issuer) return result('changeTrustNoIssuer')
  const problem = countEntry(changes, network, source, 1)
  if (problem === 'tooMany') return xdr.OperationResult.opTooManySubentries()
  if (problem) return result('changeTrustLowReserve')
  const authorized = issuer.flags & AUTH_REQUIRED_FLAG ? 0 : AUTHORIZED_FLAG
  const clawback = issuer.flags & AUTH_CLAWBACK_FLAG ? CLAWBACK_ENABLED_FLAG : 0
  changes.set({
    kind: 'trustline',
    account: source,
    asset,
    balance: 0n,
    limit,
    flags: authorized | clawback,
  })
  return result('changeTrustSuccess')
}

function result(code: xdr.ChangeTrustResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.changeTrust(xdr.ChangeTrustResult[code]()))
}
