import { xdr } from '@stellar/stellar-sdk'
import { contractKey } from '../entries.ts'
import { ENVELOPE_ALLOWANCE_BYTES, eventFee, nonRefundableFee, rentFee } from '../soroban/fees.ts'
import type { HostOutcome } from '../soroban/host.ts'
import { archivedEntry, restore, type Storage, sizeOf } from '../soroban/storage.ts'
import { createChanges } from '../state.ts'
import type { Node } from './node.ts'

/** A real call may need this much more than its simulation, because sizes and rents change in between. */
const MARGIN_PERCENT = 15

interface Needs {
  readonly readOnly: readonly xdr.LedgerKey[]
  readonly readWrite: readonly xdr.LedgerKey[]
  readonly instructions: number
  readonly diskReadBytes: number
  readonly writeBytes: number
  /** Stroops for events and rent. */
  readonly refundable: bigint
  /** The indexes of `readWrite` that the call itself restores. */
  readonly restored?: readonly number[]
}

/** Returns the resources of a call, as its simulation found them. */
export function invocationData(
  node: Node,
  envelopeBytes: number,
  { events, instructions }: HostOutcome,
  storage: Storage,
): xdr.SorobanTransactionData {
  const usage = storage.usage()
  const restored = node.ledger.network.restoresAutomatically ? usage.archived : []
  const readWrite = [...usage.readWrite, ...restored.filter((key) => !usage.readWrite.includes(key))]
  const rescue = restoration(node, restored.map(toKey))
  const eventBytes = events.reduce((bytes, event) => bytes + event.toXdr().length, 0)
  return build(envelopeBytes, {
    readOnly: usage.readOnly.filter((key) => !restored.includes(key)).map(toKey),
    readWrite: readWrite.map(toKey),
    instructions,
    diskReadBytes: usage.diskReadBytes + rescue.bytes,
    writeBytes: usage.writeBytes + rescue.bytes,
    refundable: eventFee(eventBytes) + usage.rent + rescue.rent,
    restored: restored.map((key) => readWrite.indexOf(key)),
  })
}

/** Returns the resources of a restoration of archived entries. */
export function restorationData(
  node: Node,
  envelopeBytes: number,
  keys: readonly xdr.LedgerKey[],
): xdr.SorobanTransactionData {
  const { bytes, rent } = restoration(node, keys)
  return build(envelopeBytes, {
    readOnly: [],
    readWrite: keys,
    instructions: 0,
    diskReadBytes: bytes,
    writeBytes: bytes,
    refundable: rent,
  })
}

/** Returns the resources of an extension of entries. */
export function extensionData(
  node: Node,
  envelopeBytes: number,
  keys: readonly xdr.LedgerKey[],
  extendTo: number,
): xdr.SorobanTransactionData {
  const liveUntil = node.latest().sequence + 1 + extendTo
  const view = node.view()
  const rents = keys.map((key) => {
    const entry = view.get(contractKey(key.toXdr('base64')))
    return entry?.kind === 'contract' ? rentFee(sizeOf(entry), liveUntil - entry.liveUntil) : 0n
  })
  return build(envelopeBytes, {
    readOnly: keys,
    readWrite: [],
    instructions: 0,
    diskReadBytes: 0,
    writeBytes: 0,
    refundable: rents.reduce((sum, rent) => sum + rent, 0n),
  })
}

function restoration(
  node: Node,
  keys: readonly xdr.LedgerKey[],
): { readonly bytes: number; readonly rent: bigint } {
  const ledger = node.latest().sequence + 1
  const changes = createChanges(node.view())
  let [bytes, rent] = [0, 0n]
  for (const key of keys) {
    const entry = archivedEntry(changes, key, ledger)
    if (!entry) continue
    bytes += sizeOf(entry)
    rent += restore(changes, entry, ledger)
  }
  return { bytes, rent }
}

function build(envelopeBytes: number, needs: Needs): xdr.SorobanTransactionData {
  const { readOnly, readWrite, restored = [] } = needs
  const resources = new xdr.SorobanResources({
    footprint: new xdr.LedgerFootprint({ readOnly: [...readOnly], readWrite: [...readWrite] }),
    instructions: withMargin(needs.instructions),
    diskReadBytes: withMargin(needs.diskReadBytes),
    writeBytes: withMargin(needs.writeBytes),
  })
  // The resources themselves are part of the envelope that is measured in the end.
  const bytes = envelopeBytes + resources.toXdr().length + ENVELOPE_ALLOWANCE_BYTES
  const refundable = (needs.refundable * BigInt(100 + MARGIN_PERCENT)) / 100n
  const archivedSorobanEntries = [...restored]
  return new xdr.SorobanTransactionData({
    ext:
      restored.length > 0
        ? xdr.SorobanTransactionDataExt.resourceExt(new xdr.SorobanResourcesExtV0({ archivedSorobanEntries }))
        : xdr.SorobanTransactionDataExt.v0(),
    resources,
    resourceFee: nonRefundableFee(resources, bytes) + refundable,
  })
}

function withMargin(amount: number): number {
  return Math.ceil((amount * (100 + MARGIN_PERCENT)) / 100)
}

function toKey(base64: string): xdr.LedgerKey {
  return xdr.LedgerKey.fromXdr(base64, 'base64')
}
