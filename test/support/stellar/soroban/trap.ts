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
