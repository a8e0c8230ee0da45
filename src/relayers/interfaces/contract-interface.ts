import { fingerprintOf } from '../../lib/fingerprint.ts'

/** The interface of a contract that a caller registers, as its chain has read it. */
export interface InterfaceContent {
  /** The name of the contract for people. */
  readonly name: string | undefined
  readonly document: readonly object[]
  /** The functions of the document by the key that a call begins with. */
  readonly functions: Readonly<Record<string, object>>
}

/** The place of an interface. */
export interface InterfaceKey {
  readonly relayerId: string
  /** The address of the contract in the canonical spelling of its chain. */
  readonly address: string
}

/** A registered interface without its functions, for lists. */
export interface InterfaceSummary extends InterfaceKey {
  readonly name: string | undefined
  readonly functionCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A registered interface. */
export interface ContractInterface extends InterfaceSummary {
  readonly document: readonly object[]
}

/** The interface as the audit log shows it: its hash in place of what can be 256 KiB. */
export function auditedInterface({ address, name, functionCount, document }: ContractInterface) {
  return { address, name, functions: functionCount, sha256: fingerprintOf(document) }
}
