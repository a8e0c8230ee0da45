import type { xdr } from '@stellar/stellar-sdk'
import type { Durability } from './keys.ts'

/** The reason why a contract call ended early. */
export type TrapKind = 'trapped' | 'limit' | 'archived'

/** A contract call that fails; a simulation reports `message`. */
export class Trap extends Error {
  readonly kind: TrapKind

  constructor(message: string, kind: TrapKind = 'trapped') {
    super(message)
    this.kind = kind
  }
}

/** The abilities of a contract's function while it runs. */
export interface Env {
  /** The address of the contract itself, C…. */
  readonly contract: string
  readonly ledger: number
  /** The close time of the ledger, in seconds since 1970. */
  readonly closeTime: bigint
  get(key: xdr.ScVal, durability?: Durability): xdr.ScVal | undefined
  set(key: xdr.ScVal, value: xdr.ScVal, durability?: Durability): void
  remove(key: xdr.ScVal, durability?: Durability): void
  /** Ends the call unless this account (G…), or the contract that calls, agrees to this very call. */
  requireAuth(address: string): void
  /** Likewise, for this call with other arguments (`require_auth_for_args`). */
  requireAuthForArgs(address: string, args: readonly xdr.ScVal[]): void
  call(contract: string, name: string, ...args: readonly xdr.ScVal[]): xdr.ScVal
  emit(topics: readonly xdr.ScVal[], data: xdr.ScVal): void
  /** Ends the call in failure. */
  trap(message: string): never
}

/** A function of a contract. What it does not return is void. */
export type ContractFunction = (env: Env, ...args: readonly xdr.ScVal[]) => xdr.ScVal | undefined

/** The functions of a contract by name; `__constructor` runs when it is made. */
export type Program = Readonly<Record<string, ContractFunction>>

/** The behaviour of code, by the SHA-256 of its bytes: it is written in JavaScript, and the bytes only identify it. */
export type Programs = Map<string, Program>
