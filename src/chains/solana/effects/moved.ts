import { boundTransfers, NATIVE, type Transfer, type Transfers } from '../../effects.ts'
import { fieldsOf, readInteger } from '../read/replies.ts'
import {
  accountsOf,
  decodeBase58,
  encodeBase58,
  isAddress,
  type LoadedAddresses,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../wire/addresses.ts'
import { accountCount, type Message, readTransaction } from '../wire/message.ts'
import { type Call, callsOf, debitOf } from './effects.ts'

/**
 * Reads what an included transaction moved, from the result of `getTransaction` in base64. Its instructions,
 * those that programs called among them, say who paid whom; the balances before and after it say what
 * arrived, and what moved without an instruction that is known here. Undefined for a transaction that failed,
 * and where the node does not tell all of it.
 */
export function movedIn(answer: unknown, signature: string): Transfers | undefined {
  const { transaction, meta } = fieldsOf(answer)
  const told = fieldsOf(meta)
  const message = told.err === null ? messageOf(transaction, signature) : undefined
  const loaded = loadedIn(told.loadedAddresses)
  if (message === undefined || loaded === undefined) return undefined
  const addresses = accountsOf(message, loaded).map(({ address }) => address)
  if (addresses.length !== accountCount(message)) return undefined
  const holdings = holdingsIn(told, addresses)
  const lamports = lamportsIn(told, addresses)
  if (holdings === undefined || lamports === undefined) return undefined
  const calls = withInner(callsOf(message, loaded), told.innerInstructions, addresses)
  return boundTransfers(reconcile(calls, new Map([...lamports, ...holdings])))
}

/** Opens the transaction that has this signature; undefined for any other. */
function messageOf(transaction: unknown, signature: string): Message | undefined {
  const [base64] = listOf(transaction) ?? []
  if (typeof base64 !== 'string') return undefined
  const opened = readTransaction(Buffer.from(base64, 'base64'))
  const [first] = opened?.signatures ?? []
  return first !== undefined && encodeBase58(first) === signature ? opened?.message : undefined
}

function loadedIn(told: unknown): LoadedAddresses | undefined {
  const { writable, readonly } = fieldsOf(told)
  const loaded = { writable: addressesIn(writable), readonly: addressesIn(readonly) }
  return loaded.writable && loaded.readonly && [{ writable: loaded.writable, readonly: loaded.readonly }]
}

/** Nodes omit the list for messages without tables. */
function addressesIn(told: unknown): readonly string[] | undefined {
  const addresses = told === undefined ? [] : listOf(told)
  return addresses?.every((one) => typeof one === 'string' && isAddress(one))
    ? (addresses as string[])
    : undefined
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** The amount that an account has of an asset. */
interface Holding {
  readonly account: string
  readonly asset: string
  /** The account that is shown: the owner of a token account. */
  readonly holder: string
  readonly decimals?: number
  /** The program of its token. */
  readonly program?: string
  /** The account exists after the transaction. */
  readonly isOpen: boolean
  /** The account has this much more after the transaction than before it. */
  readonly gained: bigint
}

type Holdings = ReadonlyMap<string, Holding>

function keyOf(account: string, asset: string): string {
  return `${account} ${asset}`
}

/**
 * Reads the lamports of each account. The fee is not moved by the content. A balance that JSON has rounded,
 * above nine million SOL, is left out.
 */
function lamportsIn(
  meta: Readonly<Record<string, unknown>>,
  addresses: readonly string[],
): Holdings | undefined {
  const [before, after] = [listOf(meta.preBalances), listOf(meta.postBalances)]
  const fee = readInteger(meta.fee)
  if (before?.length !== addresses.length || after?.length !== addresses.length || fee === undefined)
    return undefined
  return new Map(
    addresses.flatMap((account, index): [string, Holding][] => {
      const [first, last] = [readInteger(before[index]), readInteger(after[index])]
      if (first === undefined || last === undefined) return []
      const gained = last - first + (index === 0 ? fee : 0n)
      return [
        [keyOf(account, NATIVE), { account, asset: NATIVE, holder: account, isOpen: last > 0n, gained }],
      ]
    }),
  )
}

/**
 * A token account that is missing before the transaction was opened by it, and one that is missing after it
 * was closed.
 */
function holdingsIn(
  meta: Readonly<Record<string, unknown>>,
  addresses: readonly string[],
): Holdings | undefined {
  const [before, after] = [listOf(meta.preTokenBalances), listOf(meta.postTokenBalances)]
  if (before === undefined || after === undefined) return undefined
  const holdings = new Map<string, Holding>()
  for (const [isAfter, balances] of [
    [false, before],
    [true, after],
  ] as const) {
    for (const balance of balances) {
      const read = balanceIn(fieldsOf(balance), addresses)
      if (read === undefined) return undefined
      const { amount, ...holding } = read
      const key = keyOf(holding.account, holding.asset)
      const gained = (holdings.get(key)?.gained ?? 0n) + (isAfter ? amount : -amount)
      holdings.set(key, { ...holding, isOpen: isAfter, gained })
    }
  }
  return holdings
}

function balanceIn(told: Readonly<Record<string, unknown>>, addresses: readonly string[]) {
  const { accountIndex, mint, owner, programId, uiTokenAmount } = told
  const { amount, decimals } = fieldsOf(uiTokenAmount)
  const account = addresses[Number(readInteger(accountIndex) ?? -1)]
  const places = readInteger(decimals)
  if (account === undefined || typeof mint !== 'string' || !isAddress(mint)) return undefined
  if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount) || places === undefined || places > 255n)
    return undefined
  return {
    account,
    asset: mint,
    // Old nodes do not tell the owner.
    holder: typeof owner === 'string' && isAddress(owner) ? owner : account,
    decimals: Number(places),
    amount: BigInt(amount),
    ...(typeof programId === 'string' && { program: programId }),
  }
}

/**
 * Longer data, in base58, belongs to no instruction that is read here; to decode it takes time that grows
 * with its square.
 */
const MAX_DATA_CHARACTERS = 200

/**
 * Puts the calls that programs made behind the instruction that made them. Nodes that do not record them tell
 * null: then only the balances show what they moved.
 */
function withInner(calls: readonly Call[], told: unknown, addresses: readonly string[]): Call[] {
  const inner = (listOf(told) ?? []).map(fieldsOf)
  return calls.flatMap((call, at) => [
    call,
    ...inner
      .filter(({ index }) => index === at)
      .flatMap(({ instructions }) => listOf(instructions) ?? [])
      .flatMap((one) => innerCall(fieldsOf(one), addresses)),
  ])
}

function innerCall(
  { programIdIndex, accounts, data }: Readonly<Record<string, unknown>>,
  addresses: readonly string[],
): Call[] {
  const program = addresses[Number(readInteger(programIdIndex) ?? -1)]
  const indices = listOf(accounts)
  if (program === undefined || indices === undefined) return []
  if (typeof data !== 'string' || data.length > MAX_DATA_CHARACTERS) return []
  const bytes = Buffer.from(decodeBase58(data) ?? [])
  return [
    { program, accounts: indices.map((index) => addresses[Number(readInteger(index) ?? -1)]), data: bytes },
  ]
}

/** An instruction of a token program that moves an amount, which follows the kind in eight bytes. */
interface TokenMove {
  /** The first bytes of the data. */
  readonly kind: readonly number[]
  /** The least length of the data, in bytes: the program ignores what follows. */
  readonly bytes: number
  /** The indices of the token accounts, and of the mint where the instruction names it. */
  readonly from?: number
  readonly to?: number
  readonly mint?: number
}

/** `TokenInstruction` of spl-token and, for the last one, `TransferFeeInstruction` of Token-2022. */
const TOKEN_MOVES: readonly TokenMove[] = [
  { kind: [3], bytes: 9, from: 0, to: 1 }, // Transfer
  { kind: [7], bytes: 9, mint: 0, to: 1 }, // MintTo
  { kind: [8], bytes: 9, from: 0, mint: 1 }, // Burn
  { kind: [12], bytes: 10, from: 0, mint: 1, to: 2 }, // TransferChecked
  { kind: [14], bytes: 10, mint: 0, to: 1 }, // MintToChecked
  { kind: [15], bytes: 10, from: 0, mint: 1 }, // BurnChecked
  { kind: [26, 1], bytes: 19, from: 0, mint: 1, to: 2 }, // TransferCheckedWithFee
]

/** An amount that went from one account to another, by their own addresses. */
interface Move {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly asset: string
  readonly amount: bigint
}

function moveIn(call: Call, holdings: Holdings): Move | undefined {
  if (call.program === SYSTEM_PROGRAM) {
    const debit = debitOf(call)
    return debit && { ...debit, asset: NATIVE }
  }
  if (call.program !== TOKEN_PROGRAM && call.program !== TOKEN_2022_PROGRAM) return undefined
  const { accounts, data } = call
  const found = TOKEN_MOVES.find(
    ({ kind, bytes }) => data.length >= bytes && kind.every((byte, at) => data[at] === byte),
  )
  if (found === undefined) return undefined
  const at = (index: number | undefined) => (index === undefined ? undefined : accounts[index])
  const [from, to] = [at(found.from), at(found.to)]
  const asset = at(found.mint) ?? mintOf(from, holdings) ?? mintOf(to, holdings)
  return asset === undefined
    ? undefined
    : { from, to, asset, amount: data.readBigUInt64LE(found.kind.length) }
}

/**
 * The mint of a token account; undefined for other accounts, and for one that was opened again for another
 * mint.
 */
function mintOf(account: string | undefined, holdings: Holdings): string | undefined {
  const own = [...holdings.values()].filter((one) => one.account === account && one.asset !== NATIVE)
  return own.length === 1 ? own[0]?.asset : undefined
}

/** The mints whose token accounts hold lamports themselves: a transfer of these tokens moves lamports. */
const NATIVE_MINTS: readonly string[] = [
  'So11111111111111111111111111111111111111112',
  '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9',
]

/** Compares what the calls moved with the balances. */
function reconcile(calls: readonly Call[], holdings: Holdings): Transfer[] {
  const moves = calls.flatMap((call) => moveIn(call, holdings) ?? [])
  const unexplained = new Map([...holdings].map(([key, { gained }]) => [key, gained]))
  const explain = (account: string | undefined, asset: string, gained: bigint) => {
    const rest = account === undefined ? undefined : unexplained.get(keyOf(account, asset))
    if (rest !== undefined) unexplained.set(keyOf(account ?? '', asset), rest - gained)
  }
  for (const { from, to, asset, amount } of moves) {
    for (const name of NATIVE_MINTS.includes(asset) ? [asset, NATIVE] : [asset]) {
      explain(from, name, -amount)
      explain(to, name, amount)
    }
  }
  const withheld = withheldFees(moves, holdings, unexplained)
  for (const key of withheld.keys()) unexplained.set(key, 0n)
  const rest = [...holdings].map(([key, holding]) => ({ ...holding, gained: unexplained.get(key) ?? 0n }))
  return [...withoutFees(moves, withheld).map((move) => shownMove(move, holdings)), ...unknownMoves(rest)]
}

/**
 * Returns what mints of Token-2022 kept back of transfers (transfer fee), by the holding that received: it
 * stays in the account, whose balance does not count it.
 */
function withheldFees(
  moves: readonly Move[],
  holdings: Holdings,
  unexplained: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, bigint> {
  return new Map(
    [...holdings].flatMap(([key, { program, isOpen }]): [string, bigint][] => {
      const missing = -(unexplained.get(key) ?? 0n)
      if (program !== TOKEN_2022_PROGRAM || !isOpen || missing <= 0n) return []
      const received = moves.filter((move) => receiverKey(move) === key)
      const sum = received.reduce((total, { amount }) => total + amount, 0n)
      return received.length > 0 && sum >= missing ? [[key, missing]] : []
    }),
  )
}

function receiverKey({ to, asset }: Move): string | undefined {
  return to === undefined ? undefined : keyOf(to, asset)
}

/**
 * Lowers the moves to what arrived. Where an account received several times, only the sum is known, so they
 * become one.
 */
function withoutFees(moves: readonly Move[], withheld: ReadonlyMap<string, bigint>): Move[] {
  const sums = new Map<string, Move>()
  for (const move of moves) {
    const key = receiverKey(move)
    const fee = key === undefined ? undefined : withheld.get(key)
    if (key === undefined || fee === undefined) continue
    const sum = sums.get(key)
    const { to, asset } = move
    sums.set(key, {
      from: sum === undefined || sum.from === move.from ? move.from : undefined,
      to,
      asset,
      amount: (sum?.amount ?? -fee) + move.amount,
    })
  }
  const told = new Set<string>()
  return moves.flatMap((move) => {
    const key = receiverKey(move) ?? ''
    const sum = sums.get(key)
    if (sum === undefined) return [move]
    if (told.has(key)) return []
    told.add(key)
    return [sum]
  })
}

function shownMove({ from, to, asset, amount }: Move, holdings: Holdings): Transfer {
  const [payer, payee] = [from, to].map((account) =>
    account === undefined ? undefined : holdings.get(keyOf(account, asset)),
  )
  const decimals = (payer ?? payee)?.decimals
  const [sender, receiver] = [payer?.holder ?? from, payee?.holder ?? to]
  return {
    ...(sender !== undefined && { from: sender }),
    ...(receiver !== undefined && { to: receiver }),
    asset,
    amount,
    ...(decimals !== undefined && { decimals }),
  }
}

/**
 * Returns what moved without a known instruction: who has more, and who has less. They belong together where
 * one account alone has as much less as others have more, or the reverse, such as the lamports of an account
 * that is closed.
 */
function unknownMoves(rest: readonly Holding[]): Transfer[] {
  const byAsset = new Map<string, Holding[]>()
  for (const one of rest)
    if (one.gained !== 0n) byAsset.set(one.asset, [...(byAsset.get(one.asset) ?? []), one])
  return [...byAsset.values()].flatMap((changed) => {
    const [payers, payees] = [
      changed.filter(({ gained }) => gained < 0n),
      changed.filter(({ gained }) => gained > 0n),
    ]
    const isEven = changed.reduce((sum, { gained }) => sum + gained, 0n) === 0n
    const payer = isEven && payers.length === 1 ? payers[0] : undefined
    const payee = isEven && payees.length === 1 ? payees[0] : undefined
    if (payer !== undefined) return payees.map((one) => between(payer, one, one.gained))
    if (payee !== undefined) return payers.map((one) => between(one, payee, -one.gained))
    return [
      ...payers.map((one) => between(one, undefined, -one.gained)),
      ...payees.map((one) => between(undefined, one, one.gained)),
    ]
  })
}

function between(payer: Holding | undefined, payee: Holding | undefined, amount: bigint): Transfer {
  const { asset = NATIVE, decimals } = payer ?? payee ?? {}
  return {
    ...(payer && { from: payer.holder }),
    ...(payee && { to: payee.holder }),
    asset,
    amount,
    ...(decimals !== undefined && { decimals }),
  }
}
