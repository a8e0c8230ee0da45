import { TOKEN_2022_PROGRAM } from '../wire/programs.ts'
import type { Call, ReadCall } from './call.ts'

/** An instruction that names the mint, the amount and who receives. */
interface Checked {
  /** The first bytes of the data. */
  readonly kind: readonly number[]
  /** The length of the data, in bytes. The amount follows the kind, in eight bytes. */
  readonly bytes: number
  /** The index of the receiving token account, or of the delegate. */
  readonly receiver?: number
  /** The index of the owner; the signers follow when it is a multisig account. */
  readonly owner: number
  /** The receiver is a delegate, who can take the amount later. */
  readonly allowance?: true
  /** The mint can have a program that Token-2022 calls with all further accounts (transfer hook). */
  readonly hooked?: true
}

/** The index of the mint in all of them. */
const MINT = 1

/** `TokenInstruction` of spl-token and, for the last one, `TransferFeeInstruction` of Token-2022, whose fee is a part of the amount. */
const CHECKED: readonly Checked[] = [
  { kind: [12], bytes: 10, receiver: 2, owner: 3, hooked: true },
  { kind: [13], bytes: 10, receiver: 2, owner: 3, allowance: true },
  { kind: [15], bytes: 10, owner: 2 },
]
const CHECKED_WITH_FEE: Checked = { kind: [26, 1], bytes: 19, receiver: 2, owner: 3, hooked: true }

/** Kinds that neither move tokens of their signer nor give rights on them, and the length of their data in bytes. */
const HARMLESS: ReadonlyMap<number | undefined, number> = new Map([
  [1, 1], // InitializeAccount
  [5, 1], // Revoke
  [11, 1], // ThawAccount
  [16, 33], // InitializeAccount2
  [17, 1], // SyncNative
  [18, 33], // InitializeAccount3
  [22, 1], // InitializeImmutableOwner
])

/** Reads an instruction of SPL Token or Token-2022. Transfers without the mint are unread: their bytes do not tell the asset. */
export const readToken: ReadCall = (call, address) => {
  const { program, accounts, data } = call
  if (HARMLESS.get(data[0]) === data.length) return {}
  const kinds = program === TOKEN_2022_PROGRAM ? [...CHECKED, CHECKED_WITH_FEE] : CHECKED
  const checked = kinds.find(
    ({ kind, bytes }) => data.length === bytes && kind.every((byte, at) => data[at] === byte),
  )
  if (checked === undefined || !isBy(call, checked, address)) return undefined
  const asset = accounts[MINT]
  const receivers = checked.receiver === undefined ? [] : [accounts[checked.receiver]]
  if (asset === undefined || !receivers.every((receiver) => receiver !== undefined)) return undefined
  const amounts = [{ asset, value: data.readBigUInt64LE(checked.kind.length) }]
  return { receivers, amounts, ...(checked.allowance && { allowances: amounts }) }
}

/**
 * Returns true when the account is the owner, or may be a signer of the multisig account that is. A transfer hook receives the accounts
 * after the owner with their signatures, so nothing tells what it does with that of the relayer.
 */
function isBy({ program, accounts }: Call, { owner, hooked }: Checked, address: string): boolean {
  if (hooked && program === TOKEN_2022_PROGRAM)
    return accounts[owner] === address && accounts.length === owner + 1
  return accounts.indexOf(address, owner) >= 0
}
