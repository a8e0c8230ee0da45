import { type Address, address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import {
  addRegister,
  assemble,
  calculate,
  call,
  copy,
  exit,
  jump,
  jumpIf,
  jumpUnlessBelow,
  type Line,
  label,
  load,
  set,
  setLong,
  store,
} from './runtime/sbpf.ts'
import type { TestSolana } from './start-solana.ts'
import type { Step, Use } from './wallet.ts'

// A smart wallet, as far as payments need one. It stands for the programs that hold tokens in an account of their own and call
// other programs in its name when the owner has signed: `SignV2` of Swig, `vaultTransactionExecute` of Squads. What it calls is
// written in its instruction; they keep that in accounts or compress it, and know roles, limits and several members. Nothing here
// is taken from them. Unlike them it can call by what an account says at that moment, so that it does one thing in a simulation
// and another in a block.

/** A call that the wallet makes. */
export interface WalletCall extends Step {
  /** `on`: only while the first byte of the wallet's switch is not 0; `off`: only while it is. Always if absent. */
  readonly when?: 'on' | 'off'
  /** The program is the system program, which is not among the accounts of the wallet's instruction. */
  readonly hidden?: true
}

/** The account of a wallet that holds what its owner has, and the number that makes it one without a key. */
export interface Vault {
  readonly program: Address
  readonly owner: Address
  readonly address: Address
  readonly bump: number
}

const LOADER = address('BPFLoader2111111111111111111111111111111111')

/** Puts the program at an address, as if it had always been there. */
export function plantWalletProgram(solana: TestSolana, at: Address): void {
  const data = assemble(PROGRAM)
  const lamports = solana.rentExemption(data.length)
  solana.plant(at, { lamports, data, owner: LOADER, executable: true })
}

const VAULT = 'vault'

/** Works out the vault of an owner. */
export async function vaultOf(program: Address, owner: Address): Promise<Vault> {
  const seeds = [VAULT, getAddressEncoder().encode(owner)]
  const [found, bump] = await getProgramDerivedAddress({ programAddress: program, seeds })
  return { program, owner, address: found, bump }
}

/** The instruction that lets the wallet make these calls. The vault signs them where they ask for it. */
export function walletStep(
  { program, owner, address: vault, bump }: Vault,
  calls: readonly WalletCall[],
  switchAt?: Address,
): Step {
  const uses = new Map<Address, Use>()
  const add = (use: Use) => {
    const known = uses.get(use.address)
    uses.set(use.address, {
      address: use.address,
      signs: known?.signs === true || use.signs === true,
      writes: known?.writes === true || use.writes === true,
    })
  }
  add({ address: owner, signs: true })
  add({ address: vault })
  for (const { program: called, accounts, hidden } of calls) {
    // The vault has no key: the program signs for it.
    for (const use of accounts) add(use.address === vault ? { ...use, signs: false } : use)
    if (!hidden) add({ address: called })
  }
  if (switchAt !== undefined) add({ address: switchAt })
  const order = [...uses.keys()]
  const placeOf = (of: Address) => order.indexOf(of)
  const written = calls.map(({ program: called, accounts, data, when, hidden }) =>
    Buffer.from([
      when === undefined ? ALWAYS : when === 'off' ? WHILE_OFF : WHILE_ON,
      switchAt === undefined ? 0 : placeOf(switchAt),
      hidden ? HIDDEN : placeOf(called),
      accounts.length,
      ...accounts.flatMap((use) => [placeOf(use.address), (use.writes ? 1 : 0) | (use.signs ? 2 : 0)]),
      data.length,
      ...data,
    ]),
  )
  return { program, accounts: [...uses.values()], data: Buffer.concat([Buffer.from([bump]), ...written]) }
}

const ALWAYS = 0
const WHILE_OFF = 1
const WHILE_ON = 2

/** In the place of a program: the system program, whose address is all zeros. */
const HIDDEN = 0xff

/** Where the program writes what the runtime reads: from the beginning of its heap. */
const HEAP = 0x3_0000_0000n
const INFOS = HEAP
const METAS = HEAP + 0x800n
const INSTRUCTION = HEAP + 0xb00n
const SEEDS = HEAP + 0xc00n
/** Nothing is written there. */
const ZEROS = HEAP + 0x1000n

/** `SolAccountInfo` of the runtime's interface in C, in bytes. */
const INFO_BYTES = 56
const INFO = { key: 0, lamports: 8, length: 16, data: 24, owner: 32, rentEpoch: 40, flags: 48 }

/** An account as the loader hands it over: where its parts stand, and what follows its data. */
const GIVEN = { flags: 1, key: 8, owner: 40, lamports: 72, length: 80, data: 88, spare: 10_240 }
const NOT_REPEATED = 0xff

/** Where the number of accounts is kept: below the top of the stack. */
const COUNT = -8

/** Points register `target` to the account whose place is in it; `spare` is overwritten. */
const pointToInfo = (target: number, spare: number): readonly Line[] => [
  calculate('multiply', target, INFO_BYTES),
  setLong(spare, INFOS),
  addRegister(target, spare),
]

/** Lists the accounts as the runtime takes them for a call. */
const READ_ACCOUNTS: readonly Line[] = [
  copy(6, 1),
  load(8, 7, 6),
  store(8, 10, COUNT, 7),
  calculate('add', 6, 8),
  setLong(8, INFOS),
  set(9, 0),
  label('account'),
  jumpUnlessBelow(9, 7, 'accounts read'),
  load(1, 2, 6),
  jumpIf(2, 'is not', NOT_REPEATED, 'repeated'),
  ...(['key', 'lamports', 'data', 'owner'] as const).flatMap((part) => [
    copy(3, 6),
    calculate('add', 3, GIVEN[part]),
    store(8, 8, INFO[part], 3),
  ]),
  load(8, 4, 6, GIVEN.length),
  store(8, 8, INFO.length, 4),
  ...[0, 1, 2].flatMap((flag) => [load(1, 2, 6, GIVEN.flags + flag), store(1, 8, INFO.flags + flag, 2)]),
  calculate('add', 6, GIVEN.data + GIVEN.spare + 7),
  addRegister(6, 4),
  calculate('and', 6, -8),
  load(8, 2, 6),
  store(8, 8, INFO.rentEpoch, 2),
  calculate('add', 6, 8),
  jump('next account'),
  label('repeated'),
  ...pointToInfo(2, 4),
  ...Array.from({ length: INFO_BYTES / 8 }, (_, index) => [
    load(8, 4, 2, index * 8),
    store(8, 8, index * 8, 4),
  ]).flat(),
  calculate('add', 6, 8),
  label('next account'),
  calculate('add', 8, INFO_BYTES),
  calculate('add', 9, 1),
  jump('account'),
  label('accounts read'),
]

/** The owner must have signed; the seeds of the vault are written where the runtime reads them. */
const CHECK_OWNER: readonly Line[] = [
  load(8, 7, 6),
  calculate('add', 6, 8),
  copy(8, 6),
  addRegister(8, 7),
  setLong(1, INFOS),
  load(1, 2, 1, INFO.flags),
  jumpIf(2, 'is', 0, 'refused'),
  load(8, 4, 1, INFO.key),
  setLong(1, SEEDS),
  copy(2, 1),
  calculate('add', 2, 0x20),
  store(8, 1, 0, 2),
  set(3, 3),
  store(8, 1, 8, 3),
  calculate('add', 2, 0x60),
  store(8, 1, 0x20, 2),
  set(3, VAULT.length),
  store(8, 1, 0x28, 3),
  ...[...Buffer.from(VAULT)].flatMap((byte, index) => [set(3, byte), store(1, 2, index, 3)]),
  store(8, 1, 0x30, 4),
  set(3, 32),
  store(8, 1, 0x38, 3),
  load(1, 3, 6),
  store(1, 2, 0x10, 3),
  calculate('add', 2, 0x10),
  store(8, 1, 0x40, 2),
  set(3, 1),
  store(8, 1, 0x48, 3),
  calculate('add', 6, 1),
]

/** Makes the calls one after another; the first that fails fails everything. */
const MAKE_CALLS: readonly Line[] = [
  label('call'),
  jumpUnlessBelow(6, 8, 'done'),
  load(1, 2, 6),
  load(1, 3, 6, 1),
  set(9, 1),
  jumpIf(2, 'is', ALWAYS, 'decided'),
  ...pointToInfo(3, 4),
  load(8, 3, 3, INFO.data),
  load(1, 3, 3),
  jumpIf(2, 'is', WHILE_OFF, 'only while off'),
  jumpIf(3, 'is not', 0, 'decided'),
  set(9, 0),
  jump('decided'),
  label('only while off'),
  jumpIf(3, 'is', 0, 'decided'),
  set(9, 0),
  label('decided'),
  setLong(5, INSTRUCTION),
  load(1, 3, 6, 2),
  jumpIf(3, 'is', HIDDEN, 'hidden'),
  ...pointToInfo(3, 4),
  load(8, 3, 3, INFO.key),
  jump('program known'),
  label('hidden'),
  setLong(3, ZEROS),
  label('program known'),
  store(8, 5, 0, 3),
  load(1, 7, 6, 3),
  store(8, 5, 16, 7),
  setLong(4, METAS),
  store(8, 5, 8, 4),
  calculate('add', 6, 4),
  label('use'),
  jumpIf(7, 'is', 0, 'uses read'),
  load(1, 3, 6),
  ...pointToInfo(3, 2),
  load(8, 3, 3, INFO.key),
  store(8, 4, 0, 3),
  load(1, 3, 6, 1),
  copy(2, 3),
  calculate('and', 2, 1),
  store(1, 4, 8, 2),
  calculate('shiftRight', 3, 1),
  store(1, 4, 9, 3),
  calculate('add', 4, 16),
  calculate('add', 6, 2),
  calculate('subtract', 7, 1),
  jump('use'),
  label('uses read'),
  load(1, 3, 6),
  calculate('add', 6, 1),
  store(8, 5, 24, 6),
  store(8, 5, 32, 3),
  addRegister(6, 3),
  jumpIf(9, 'is', 0, 'call'),
  copy(1, 5),
  setLong(2, INFOS),
  load(8, 3, 10, COUNT),
  setLong(4, SEEDS),
  set(5, 1),
  call('sol_invoke_signed_c'),
  jumpIf(0, 'is not', 0, 'end'),
  jump('call'),
]

const PROGRAM: readonly Line[] = [
  ...READ_ACCOUNTS,
  ...CHECK_OWNER,
  ...MAKE_CALLS,
  label('done'),
  set(0, 0),
  label('end'),
  exit,
  label('refused'),
  set(0, 1),
  exit,
]
