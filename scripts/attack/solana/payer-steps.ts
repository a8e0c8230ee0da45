import { createHash } from 'node:crypto'
import { type Address, address, getAddressDecoder, getAddressEncoder } from '@solana/kit'
import {
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import { ASSOCIATED_TOKEN_PROGRAM, associatedAddress } from '../../../simulators/solana/tokens.ts'
import {
  advanceNonce,
  createAccount,
  extendTable,
  initializeNonce,
  openTokenAccount,
  type Step,
  transfer,
  type Use,
  u32,
  u64,
  unitLimit,
  unitPrice,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { Random } from '../../../test/support/random.ts'
import { STAKE_PROGRAM, TOKEN_PROGRAMS, type Victim, walletNamed } from './victim.ts'

/** Instructions of one attempt, and the keys besides the payer's that have to sign. */
export interface PayerSteps {
  readonly name: string
  readonly steps: readonly Step[]
  readonly signers?: readonly Wallet[]
}

interface Draw {
  readonly victim: Victim
  readonly random: Random
  /** A wallet that no other attempt has. */
  readonly fresh: Wallet
}

type Maker = (draw: Draw) => PayerSteps | Promise<PayerSteps>

const CLOCK = address('SysvarC1ock11111111111111111111111111111111')
const RENT = address('SysvarRent111111111111111111111111111111111')
const STAKE_HISTORY = address('SysvarStakeHistory1111111111111111111111111')
const RECENT_BLOCKHASHES = address('SysvarRecentB1ockHashes11111111111111111111')
const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

const bytesOf = (of: Address) => Buffer.from(getAddressEncoder().encode(of))
const signer = (of: Address): Use => ({ address: of, signs: true, writes: true })
const written = (of: Address): Use => ({ address: of, writes: true })

function system(kind: number, data: readonly Uint8Array[], accounts: readonly Use[]): Step {
  return { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(kind), ...data]) }
}

/** A text as bincode writes it. */
const seedText = (seed: string) => Buffer.concat([u64(BigInt(seed.length)), Buffer.from(seed)])

function derived(base: Address, seed: string, owner: Address): Address {
  const bytes = Buffer.concat([bytesOf(base), Buffer.from(seed), bytesOf(owner)])
  return getAddressDecoder().decode(createHash('sha256').update(bytes).digest())
}

const lamports = (random: Random) => BigInt(random.pick([0, 1, 5_000, 1_000_000, 50_000_000, 2_000_000_000]))

const SYSTEM_MAKERS: readonly Maker[] = [
  ({ victim, random }) => ({
    name: 'transfer',
    steps: [transfer(victim.payer, victim.attacker.address, lamports(random))],
  }),
  ({ victim, random }) => ({
    name: 'transfer to the payer',
    steps: [transfer(victim.attacker.address, victim.payer, lamports(random))],
  }),
  ({ victim, random, fresh }) => {
    const of = {
      lamports: 2_000_000n + lamports(random),
      space: random.int(0, 80),
      owner: victim.attacker.address,
    }
    return {
      name: 'createAccount',
      steps: [createAccount(victim.payer, fresh.address, of)],
      signers: [fresh],
    }
  },
  ({ victim }) => ({
    name: 'assign',
    steps: [system(1, [bytesOf(victim.attacker.address)], [signer(victim.payer)])],
  }),
  ({ victim, random }) => ({
    name: 'allocate',
    steps: [system(8, [u64(BigInt(random.int(1, 100)))], [signer(victim.payer)])],
  }),
  ({ victim, random }) => {
    const seed = `s${random.int(0, 1e6)}`
    const made = derived(victim.payer, seed, victim.attacker.address)
    const data = [
      bytesOf(victim.payer),
      seedText(seed),
      u64(3_000_000n),
      u64(0n),
      bytesOf(victim.attacker.address),
    ]
    return { name: 'createAccountWithSeed', steps: [system(3, data, [signer(victim.payer), written(made)])] }
  },
  ({ victim }) => {
    const made = derived(victim.payer, 'a', victim.attacker.address)
    const data = [bytesOf(victim.payer), seedText('a'), bytesOf(victim.attacker.address)]
    return { name: 'assignWithSeed', steps: [system(10, data, [written(made), signer(victim.payer)])] }
  },
  ({ victim }) => {
    const made = derived(victim.payer, 'a', victim.attacker.address)
    const data = [bytesOf(victim.payer), seedText('a'), u64(10n), bytesOf(victim.attacker.address)]
    return { name: 'allocateWithSeed', steps: [system(9, data, [written(made), signer(victim.payer)])] }
  },
  ({ victim, random }) => {
    const from = derived(victim.payer, 'a', SYSTEM_PROGRAM)
    const data = [u64(lamports(random)), seedText('a'), bytesOf(SYSTEM_PROGRAM)]
    const accounts = [written(from), signer(victim.payer), written(victim.attacker.address)]
    return {
      name: 'transferWithSeed',
      steps: [transfer(victim.attacker.address, from, 5_000_000n), system(11, data, accounts)],
    }
  },
  ({ victim }) => ({
    name: 'advanceNonce',
    steps: [advanceNonce(victim.possessions.nonce ?? victim.payer, victim.payer)],
  }),
  ({ victim }) => {
    const accounts = [
      written(victim.possessions.nonce ?? victim.payer),
      written(victim.attacker.address),
      { address: RECENT_BLOCKHASHES },
      { address: RENT },
      signer(victim.payer),
    ]
    return { name: 'withdrawNonce', steps: [system(5, [u64(500_000_000n)], accounts)] }
  },
  ({ victim }) => ({
    name: 'authorizeNonce',
    steps: [
      system(
        7,
        [bytesOf(victim.attacker.address)],
        [written(victim.possessions.nonce ?? victim.payer), signer(victim.payer)],
      ),
    ],
  }),
  ({ victim }) => ({
    name: 'initializeNonce',
    steps: [initializeNonce(victim.payer, victim.attacker.address)],
  }),
  ({ victim }) => ({ name: 'upgradeNonce', steps: [system(12, [], [written(victim.payer)])] }),
]

/** Instructions of both token programs: kind, data and the accounts before the authority. */
const TOKEN_KINDS: readonly (readonly [
  string,
  number,
  Uint8Array,
  (victim: Victim) => readonly Address[],
])[] = [
  ['transfer', 3, u64(10n), ({ possessions, loot }) => [possessions.tokens as Address, loot]],
  ['approve', 4, u64(10n), ({ possessions, attacker }) => [possessions.tokens as Address, attacker.address]],
  ['revoke', 5, Buffer.alloc(0), ({ possessions }) => [possessions.tokens as Address]],
  ['burn', 8, u64(10n), ({ possessions, mint }) => [possessions.tokens as Address, mint]],
  [
    'closeAccount',
    9,
    Buffer.alloc(0),
    ({ possessions, attacker }) => [possessions.tokens as Address, attacker.address],
  ],
  [
    'transferChecked',
    12,
    Buffer.concat([u64(10n), Buffer.from([6])]),
    ({ possessions, mint, loot }) => [possessions.tokens as Address, mint, loot],
  ],
  ['mintTo', 7, u64(10n), ({ mint, loot }) => [mint, loot]],
  [
    'withdrawExcessLamports',
    38,
    Buffer.alloc(0),
    ({ possessions, attacker }) => [possessions.delegated as Address, attacker.address],
  ],
]

const TOKEN_MAKERS: readonly Maker[] = [
  ...TOKEN_KINDS.map(
    ([name, kind, rest, places]): Maker =>
      ({ victim, random }) => {
        const accounts = [...places(victim).map(written), signer(victim.payer)]
        return {
          name: `token ${name}`,
          steps: [
            {
              program: random.pick(TOKEN_PROGRAMS),
              accounts,
              data: Buffer.concat([Buffer.from([kind]), rest]),
            },
          ],
        }
      },
  ),
  ({ victim, random }) => {
    const kind = random.pick([2, 3])
    const data = Buffer.concat([Buffer.from([6, kind, 1]), bytesOf(victim.attacker.address)])
    const accounts = [written(victim.possessions.tokens as Address), signer(victim.payer)]
    return { name: 'token setAuthority', steps: [{ program: random.pick(TOKEN_PROGRAMS), accounts, data }] }
  },
  ({ victim, random }) => {
    const accounts = [
      victim.possessions.delegated as Address,
      victim.delegatedMint,
      victim.delegatedLoot,
    ].map(written)
    const data = Buffer.concat([Buffer.from([12]), u64(BigInt(random.int(1, 1_000))), Buffer.from([0])])
    return {
      name: 'token transferChecked by a permanent delegate',
      steps: [
        { program: TOKEN_2022_PROGRAM, accounts: [...accounts, signer(victim.attacker.address)], data },
      ],
      signers: [victim.attacker],
    }
  },
  ({ victim, random }) => {
    const accounts = [
      written(victim.possessions.delegated as Address),
      signer(victim.payer),
      { address: SYSTEM_PROGRAM },
      signer(victim.payer),
    ]
    return {
      name: 'token reallocate',
      steps: [{ program: TOKEN_2022_PROGRAM, accounts, data: Buffer.from([29, random.pick([4, 7, 8]), 0]) }],
    }
  },
]

/** The program of associated token accounts calls the system program and the token program, with the payer's signature. */
const CALLING_MAKERS: readonly Maker[] = [
  async ({ victim, random, fresh }) => {
    const at = await associatedAddress(fresh.address, victim.mint)
    const step = openTokenAccount(victim.payer, at, fresh.address, victim.mint)
    return { name: 'open a token account', steps: [{ ...step, data: Buffer.from([random.int(0, 1)]) }] }
  },
  async ({ victim, fresh }) => {
    const at = await associatedAddress(fresh.address, victim.mint)
    return {
      name: 'open a token account for others',
      steps: [openTokenAccount(victim.attacker.address, at, fresh.address, victim.mint)],
    }
  },
  async ({ victim }) => {
    const nested = await associatedAddress(victim.possessions.tokens as Address, victim.mint)
    const accounts = [
      nested,
      victim.mint,
      victim.loot,
      victim.possessions.tokens as Address,
      victim.mint,
    ].map(written)
    const step = {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [...accounts, signer(victim.payer), { address: TOKEN_PROGRAMS[0] }],
      data: Buffer.from([2]),
    }
    return { name: 'recover nested tokens', steps: [step] }
  },
  ({ victim }) => ({
    name: 'memo signed by the payer',
    steps: [
      {
        program: MEMO_PROGRAM,
        accounts: [{ address: victim.payer, signs: true }],
        data: Buffer.from('memo'),
      },
    ],
  }),
]

function stake(kind: number, data: readonly Uint8Array[], accounts: readonly Use[]): Step {
  return { program: STAKE_PROGRAM, accounts, data: Buffer.concat([u32(kind), ...data]) }
}

const STAKE_MAKERS: readonly Maker[] = [
  ({ victim, random }) => {
    const accounts = [written(victim.possessions.stake as Address), { address: CLOCK }, signer(victim.payer)]
    return {
      name: 'stake authorize',
      steps: [stake(1, [bytesOf(victim.attacker.address), u32(random.int(0, 1))], accounts)],
    }
  },
  ({ victim }) => {
    const accounts = [
      written(victim.possessions.stake as Address),
      written(victim.attacker.address),
      { address: CLOCK },
      { address: STAKE_HISTORY },
      signer(victim.payer),
    ]
    return { name: 'stake withdraw', steps: [stake(4, [u64(100_000_000n)], accounts)] }
  },
  ({ victim, fresh }) => {
    const accounts = [
      written(victim.possessions.stake as Address),
      written(fresh.address),
      signer(victim.payer),
    ]
    return { name: 'stake split', steps: [stake(3, [u64(100_000_000n)], accounts)] }
  },
]

function table(kind: number, data: readonly Uint8Array[], accounts: readonly Use[]): Step {
  return { program: LOOKUP_TABLE_PROGRAM, accounts, data: Buffer.concat([u32(kind), ...data]) }
}

const TABLE_MAKERS: readonly Maker[] = [
  ({ victim, random }) => ({
    name: 'table freeze or deactivate',
    steps: [
      table(random.pick([1, 3]), [], [written(victim.possessions.table as Address), signer(victim.payer)]),
    ],
  }),
  ({ victim }) => ({
    name: 'table close',
    steps: [
      table(
        4,
        [],
        [
          written(victim.possessions.table as Address),
          signer(victim.payer),
          written(victim.attacker.address),
        ],
      ),
    ],
  }),
  ({ victim, fresh }) => ({
    name: 'table extend',
    steps: [extendTable(victim.possessions.table as Address, victim.payer, [fresh.address])],
  }),
]

const BUDGET_MAKERS: readonly Maker[] = [
  ({ random }) => ({
    name: 'unit price',
    steps: [unitPrice(random.pick([0n, 1n, 1_000_000n, 10n ** 12n, 2n ** 64n - 1n]))],
  }),
  ({ random }) => ({
    name: 'unit limit',
    steps: [unitLimit(random.pick([1_000, 200_000, 1_400_000, 2 ** 32 - 1]))],
  }),
]

const MAKERS = [
  SYSTEM_MAKERS,
  TOKEN_MAKERS,
  CALLING_MAKERS,
  STAKE_MAKERS,
  TABLE_MAKERS,
  BUDGET_MAKERS,
] as const

/** Draws the instructions of one attempt; each family is as likely as every other. */
export async function drawPayerSteps(victim: Victim, random: Random, label: string): Promise<PayerSteps> {
  const fresh = walletNamed(label)
  const drawn: PayerSteps[] = []
  for (let count = random.int(1, 3); count > 0; count -= 1)
    drawn.push(await random.pick(random.pick(MAKERS))({ victim, random, fresh }))
  return {
    name: drawn.map(({ name }) => name).join(', '),
    steps: drawn.flatMap(({ steps }) => steps),
    signers: [...new Set(drawn.flatMap(({ signers = [] }) => signers))],
  }
}
