/** Why a contract call ended before its end. */
export type TrapKind = 'trapped' | 'limit' | 'archived'

/** A contract call that ends in failure; `message` is what a simulation says of it. */
export class Trap extends Error {
  readonly kind: TrapKind

  constructor(message: string, kind: TrapKind = 'trapped') {
    super(message)
    this.kind = kind
  }
}
