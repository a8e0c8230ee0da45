import { createHash } from 'node:crypto'
import { xdr } from '@stellar/stellar-sdk'
import type { OperationContext, Rule } from '../apply/rule.ts'
import { contractKey } from '../state/entries.ts'
import type { Changes } from '../state/state.ts'
import { Trap } from './contracts.ts'
import { eventFee, rentFee } from './fees.ts'
import { type HostOutcome, runHostFunction } from './host.ts'
import { isPersistent } from './keys.ts'
import type { SorobanRun } from './run.ts'
import { createEnforcer } from './signed-authorization.ts'
import { accessOf, archivedEntry, createStorage, restore, type Storage, sizeOf } from './storage.ts'

/** A life can be extended by this many ledgers (pubnet: `max_entry_ttl`). */
const MAX_LEDGERS = 3_110_400

/** stellar-core InvokeHostFunctionOpFrame.cpp. */
export const invokeHostFunction: Rule<'invokeHostFunction'> = {
  level: () => 'medium',
  check: () => undefined,
  apply({ invokeHostFunctionOp }, context) {
    const run = needRun(context)
    const restored = restoreArchived(run, context)
    if (restored === undefined) return invoked('invokeHostFunctionEntryArchived')
    const storage = createStorage(context.changes, context.ledger, accessOf(run.data))
    try {
      const outcome = callHost(invokeHostFunctionOp, storage, run, context)
      return settle(outcome, storage, restored, run)
    } catch (error) {
      if (!(error instanceof Trap)) throw error
      return invoked(
        error.kind === 'archived' ? 'invokeHostFunctionEntryArchived' : 'invokeHostFunctionTrapped',
      )
    }
  },
}

/** stellar-core ExtendFootprintTTLOpFrame.cpp. */
export const extendFootprintTtl: Rule<'extendFootprintTtl'> = {
  level: () => 'low',
  check: ({ extendFootprintTtlOp: { extendTo } }) =>
    extendTo > MAX_LEDGERS - 1 ? extended('extendFootprintTtlMalformed') : undefined,
  apply({ extendFootprintTtlOp: { extendTo } }, context) {
    const run = needRun(context)
    const { footprint } = run.data.resources
    if (footprint.readWrite.length > 0) return extended('extendFootprintTtlMalformed')
    const liveUntil = context.ledger + extendTo
    let rent = 0n
    for (const key of footprint.readOnly) {
      const entry = context.changes.get(contractKey(key.toXdr('base64')))
      // An archived entry, and one that lives long enough already, stays unchanged.
      if (entry?.kind !== 'contract' || entry.liveUntil < context.ledger || entry.liveUntil >= liveUntil)
        continue
      rent += rentFee(sizeOf(entry), liveUntil - entry.liveUntil)
      context.changes.set({ ...entry, liveUntil })
    }
    if (rent > run.refundable) return extended('extendFootprintTtlInsufficientRefundableFee')
    run.used = { returned: null, events: [], eventFee: 0n, rentFee: rent }
    return extended('extendFootprintTtlSuccess')
  },
}

/** stellar-core RestoreFootprintOpFrame.cpp. */
export const restoreFootprint: Rule<'restoreFootprint'> = {
  level: () => 'low',
  check: () => undefined,
  apply(_body, context) {
    const run = needRun(context)
    const { footprint, diskReadBytes, writeBytes } = run.data.resources
    if (footprint.readOnly.length > 0 || !footprint.readWrite.every(isPersistent)) {
      return restored('restoreFootprintMalformed')
    }
    let [bytes, rent] = [0, 0n]
    for (const entry of archivedIn(footprint.readWrite, context.changes, context.ledger)) {
      bytes += sizeOf(entry)
      rent += restore(context.changes, entry, context.ledger)
    }
    if (bytes > diskReadBytes || bytes > writeBytes) return restored('restoreFootprintResourceLimitExceeded')
    if (rent > run.refundable) return restored('restoreFootprintInsufficientRefundableFee')
    run.used = { returned: null, events: [], eventFee: 0n, rentFee: rent }
    return restored('restoreFootprintSuccess')
  },
}

function archivedIn(keys: readonly xdr.LedgerKey[], changes: Changes, ledger: number) {
  return keys.map((key) => archivedEntry(changes, key, ledger)).filter((entry) => entry !== undefined)
}

/**
 * Every archived entry of the footprint must be one of those that are to be restored on the way (CAP-66). Gives the
 * rent of these; nothing when there is another.
 */
function restoreArchived({ data }: SorobanRun, { changes, ledger }: OperationContext): bigint | undefined {
  const access = accessOf(data)
  const { readOnly, readWrite } = data.resources.footprint
  let rent = 0n
  for (const key of [...readOnly, ...readWrite]) {
    const entry = archivedEntry(changes, key, ledger)
    if (!entry) continue
    if (!access.mayRestore(entry.ledgerKey)) return undefined
    rent += restore(changes, entry, ledger)
  }
  return rent
}

function callHost(
  { hostFunction, auth }: xdr.InvokeHostFunctionOp,
  storage: Storage,
  { programs }: SorobanRun,
  { network, ledger, closeTime, source }: OperationContext,
): HostOutcome {
  const authorizer = createEnforcer(auth, { network, storage, source })
  return runHostFunction(hostFunction, { network, ledger, closeTime, programs, storage, authorizer })
}

/** Holds what was used against what was declared. */
function settle(
  outcome: HostOutcome,
  storage: Storage,
  restoredRent: bigint,
  run: SorobanRun,
): xdr.OperationResult {
  const { returned, events, instructions } = outcome
  const { resources } = run.data
  const usage = storage.usage()
  if (
    instructions > resources.instructions ||
    usage.diskReadBytes > resources.diskReadBytes ||
    usage.writeBytes > resources.writeBytes
  ) {
    return invoked('invokeHostFunctionResourceLimitExceeded')
  }
  const spoken = eventFee(events.reduce((bytes, event) => bytes + event.toXdr().length, 0))
  const rent = usage.rent + restoredRent
  if (spoken + rent > run.refundable) return invoked('invokeHostFunctionInsufficientRefundableFee')
  run.used = { returned, events, eventFee: spoken, rentFee: rent }
  const preimage = new xdr.InvokeHostFunctionSuccessPreImage({ returnValue: returned, events: [...events] })
  const hash = createHash('sha256').update(preimage.toXdr()).digest()
  return inner(xdr.InvokeHostFunctionResult.invokeHostFunctionSuccess(hash))
}

/** The rules before have refused a contract operation in a transaction that declares no resources. */
function needRun({ soroban }: OperationContext): SorobanRun {
  if (!soroban) throw new Error('A contract operation came without resources.')
  return soroban
}

type Failure = Exclude<xdr.InvokeHostFunctionResultVariantName, 'invokeHostFunctionSuccess'>

function invoked(code: Failure): xdr.OperationResult {
  return inner(xdr.InvokeHostFunctionResult[code]())
}

function inner(result: xdr.InvokeHostFunctionResult): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.invokeHostFunction(result))
}

function extended(code: xdr.ExtendFootprintTtlResultVariantName): xdr.OperationResult {
  const result = xdr.ExtendFootprintTtlResult[code]()
  return xdr.OperationResult.opInner(xdr.OperationResultTr.extendFootprintTtl(result))
}

function restored(code: xdr.RestoreFootprintResultVariantName): xdr.OperationResult {
  const result = xdr.RestoreFootprintResult[code]()
  return xdr.OperationResult.opInner(xdr.OperationResultTr.restoreFootprint(result))
}
