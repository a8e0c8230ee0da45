import { type Address, getAddressEncoder } from '@solana/kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import { createWallet, type Step, transfer, transferTokens, u64 } from '../../../simulators/solana/wallet.ts'
import type { WalletCall } from '../../../simulators/solana/wallet-program.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { SOL } from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'
import { doings } from './site.ts'
import {
  type Asked,
  honest,
  MAIN,
  ONE,
  type SiteToken,
  type SolanaSwapSite,
  startSolanaSwapSite,
  swapBy,
  TOKEN_PROGRAM,
  worth,
} from './solana-site.ts'

/** A thief, and an account of tokens of the thief. */
const THIEF = createWallet().address

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address

/** Calls of SPL Token by the relayer's signature. */
const tokenCall = (accounts: readonly Address[], data: readonly number[] | Buffer): WalletCall => ({
  program: TOKEN_PROGRAM,
  accounts: [...accounts.map((each) => ({ address: each, writes: true })), { address: MAIN, signs: true }],
  data: Buffer.from(data),
})

const approve = (of: Address, delegate: Address, amount: bigint): WalletCall => ({
  program: TOKEN_PROGRAM,
  accounts: [{ address: of, writes: true }, { address: delegate }, { address: MAIN, signs: true }],
  data: Buffer.concat([Buffer.from([4]), u64(amount)]),
})

/** Authority 2 is the owner, 3 who may close. */
const setAuthority = (of: Address, kind: 2 | 3, to: Address): WalletCall =>
  tokenCall([of], Buffer.concat([Buffer.from([6, kind, 1]), Buffer.from(getAddressEncoder().encode(to))]))

/** Moves the coins of the relayer, which no swap needs. */
const takeCoins = (lamports: bigint): WalletCall => transfer(MAIN, THIEF, lamports)

/** What a dishonest router answers, by what it is. */
type Row = readonly [what: string, code: string, swap: (asked: Asked) => Step]

const by = (calls: (asked: Asked) => readonly WalletCall[]) => swapBy((asked) => calls(asked))

/** An account of the relayer that is none of the sale's, and one of another mint. */
const SAVINGS = createWallet().address
const OTHER_MINT = createWallet().address
const OTHER_TOKENS = createWallet().address
const NONCE = createWallet().address

const ROWS: readonly Row[] = [
  ['a transfer of the relayer’s coins in place of a swap', 'untrusted_route', () => takeCoins(SOL)],
  [
    'an approval of the relayer’s tokens in place of a swap',
    'untrusted_route',
    ({ tokens }) => approve(tokens, THIEF, 1_000n * ONE),
  ],
  [
    'a swap of a program that is not listed',
    'untrusted_route',
    (asked) => ({ ...swapBy(honest)(asked), program: THIEF }),
  ],
  [
    'a swap that another account signs as well',
    'untrusted_route',
    (asked) => {
      const step = swapBy(honest)(asked)
      return { ...step, accounts: [...step.accounts, { address: THIEF, signs: true }] }
    },
  ],
  [
    'a swap that takes coins of the relayer beside',
    'untrusted_route',
    by((asked) => [...honest(asked), takeCoins(1n)]),
  ],
  [
    'a swap that takes coins by a system program that it hides',
    'arrives_too_little',
    by((asked) => [...honest(asked), { ...takeCoins(1n), hidden: true }]),
  ],
  [
    'a swap that is handed another account of the same token',
    'untrusted_route',
    by((asked) => [...honest(asked), transferTokens(SAVINGS, asked.poolTokens, MAIN, ONE)]),
  ],
  [
    'a swap that is handed tokens of another mint',
    'untrusted_route',
    by((asked) => [...honest(asked), approve(OTHER_TOKENS, THIEF, ONE)]),
  ],
  [
    'a swap that is handed a mint of the relayer',
    'untrusted_route',
    (asked) => {
      const step = swapBy(honest)(asked)
      return { ...step, accounts: [...step.accounts, { address: OTHER_MINT, writes: true }] }
    },
  ],
  [
    'a swap that is handed a nonce of the relayer',
    'untrusted_route',
    (asked) => {
      const step = swapBy(honest)(asked)
      return { ...step, accounts: [...step.accounts, { address: NONCE, writes: true }] }
    },
  ],
  [
    'a swap that pays less than its quote',
    'arrives_too_little',
    by((asked) => [
      transferTokens(asked.tokens, asked.poolTokens, MAIN, asked.amount),
      transferTokens(asked.poolCoins, asked.coins, asked.vault.address, worth(asked.amount) / 2n),
    ]),
  ],
  [
    'a swap that pays nothing',
    'arrives_too_little',
    by(({ tokens, poolTokens, amount }) => [transferTokens(tokens, poolTokens, MAIN, amount)]),
  ],
  [
    'a swap that takes more than the amount',
    'arrives_too_little',
    by((asked) => [...honest(asked), transferTokens(asked.tokens, asked.poolTokens, MAIN, 1n)]),
  ],
  [
    'a swap that leaves a part of the amount where it has an approval',
    'untrusted_route',
    by((asked) => [
      ...honest({ ...asked, amount: asked.amount / 2n }).slice(0, 1),
      ...honest(asked).slice(1),
      approve(asked.tokens, THIEF, asked.amount),
    ]),
  ],
  [
    'a swap that makes itself the owner of the account that was sold from',
    'untrusted_route',
    by((asked) => [...honest(asked), setAuthority(asked.tokens, 2, THIEF)]),
  ],
  [
    'a swap that makes itself the owner of what arrives',
    'arrives_too_little',
    by((asked) => [...honest(asked), setAuthority(asked.coins, 2, asked.vault.address)]),
  ],
  [
    'a swap that owns what arrives, and lets the relayer spend it as a delegate',
    'untrusted_route',
    by((asked) => [
      ...honest(asked),
      setAuthority(asked.coins, 2, asked.vault.address),
      {
        program: TOKEN_PROGRAM,
        accounts: [
          { address: asked.coins, writes: true },
          { address: MAIN },
          { address: asked.vault.address, signs: true },
        ],
        data: Buffer.concat([Buffer.from([4]), u64(worth(asked.amount))]),
      },
    ]),
  ],
  [
    'a swap that closes the account of what arrives in its own favour',
    'arrives_too_little',
    by((asked) => [...honest(asked), tokenCall([asked.coins, asked.poolCoins], [9])]),
  ],
  ['a swap that sells something else', 'untrusted_route', by((asked) => honest(asked).slice(1))],
  [
    'a swap of more accounts than fit',
    'route_too_long',
    (asked) => {
      const step = swapBy(honest)(asked)
      const more = Array.from({ length: 30 }, () => ({ address: createWallet().address }))
      return { ...step, accounts: [...step.accounts, ...more] }
    },
  ],
]

describe('A router', () => {
  let site: SolanaSwapSite
  beforeAll(async () => {
    site = await startSolanaSwapSite()
    const { solana } = site
    plantTokens(solana, SAVINGS, { mint: site.mint, owner: MAIN, amount: 1_000n * ONE })
    plantTokens(solana, OTHER_TOKENS, { mint: OTHER_MINT, owner: MAIN, amount: 1_000n * ONE })
    for (const [at, offset, owner] of [
      [OTHER_MINT, 4, TOKEN_PROGRAM],
      [NONCE, 8, SYSTEM_PROGRAM],
    ] as const) {
      const data = Buffer.alloc(82)
      data.set(getAddressEncoder().encode(MAIN), offset)
      solana.plant(at, { lamports: SOL, data: Uint8Array.from(data), owner, executable: false })
    }
    site.give(1_000n * ONE)
  }, 60_000)
  afterAll(() => site?.stop())
  beforeEach(() => {
    Object.assign(site.api, { swap: swapBy(honest), change: (answer: object) => answer, instead: undefined })
  })

  test.each(ROWS)('that answers %s is refused (%s), and nothing is sent', async (_, code, swap) => {
    site.api.swap = swap
    const coins = site.lamports()
    expect(await site.run()).toMatchObject({ state: 'refused', code })
    expect(await site.records()).toEqual([])
    expect([site.lamports(), site.tokens()]).toEqual([coins, 1_000n * ONE])
  })

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['no instruction', { swapInstruction: null }],
    ['an instruction without accounts', { swapInstruction: { programId: THIEF, accounts: [], data: '' } }],
    [
      'an account that is no address',
      {
        swapInstruction: {
          programId: THIEF,
          accounts: [{ pubkey: '1', isSigner: false, isWritable: false }],
          data: '',
        },
      },
    ],
    [
      'a signer that may be one',
      { swapInstruction: { programId: THIEF, accounts: [{ pubkey: THIEF, isWritable: true }], data: '' } },
    ],
    [
      'data that is no base64',
      {
        swapInstruction: {
          programId: THIEF,
          accounts: [{ pubkey: THIEF, isSigner: false, isWritable: false }],
          data: '?',
        },
      },
    ],
  ])('that answers %s is refused', async (_, answer) => {
    site.api.change = (told) => ('swapInstruction' in told ? answer : told)
    expect(await site.run()).toMatchObject({ state: 'refused', code: 'untrusted_route' })
    expect(await site.records()).toEqual([])
  })

  test('has no say by its quote, and none by instructions beside the swap', async () => {
    const theft = { programId: SYSTEM_PROGRAM, accounts: [], data: '' }
    site.api.change = (told) =>
      'outAmount' in told
        ? { ...told, outAmount: '1' }
        : {
            ...told,
            setupInstructions: [theft],
            computeBudgetInstructions: [theft],
            cleanupInstruction: theft,
            addressLookupTableAddresses: [THIEF],
          }
    // A delegate of the account that is sold from ends with it.
    site.api.swap = by((asked) => [...honest(asked), approve(asked.tokens, THIEF, ONE)])
    expect(await site.run()).toMatchObject({ state: 'swapped', bought: String(worth(100n * ONE)) })
    expect(site.tokens()).toBe(900n * ONE)
  }, 30_000)
})

/** A mint of Token-2022 that keeps a share of each transfer, and its accounts (spl-token-2022 `TransferFeeConfig`). */
const taxing = (basisPoints: number): SiteToken => {
  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address
  const extended = (base: Buffer, kind: 1 | 2, type: 1 | 2, value: Buffer): Uint8Array => {
    const header = Buffer.alloc(170)
    header.set(base, 0)
    header.writeUInt8(kind, 165)
    header.writeUInt16LE(type, 166)
    header.writeUInt16LE(value.length, 168)
    return Uint8Array.from(Buffer.concat([header, value]))
  }
  const owned = (solana: SolanaSwapSite['solana'], data: Uint8Array) => ({
    lamports: solana.rentExemption(data.length),
    data,
    owner: program,
    executable: false,
  })
  return {
    program,
    mint: (solana, at) => {
      const base = Buffer.alloc(82)
      base.writeUInt8(6, 44)
      base.writeUInt8(1, 45)
      const config = Buffer.alloc(108)
      for (const fee of [72, 90]) {
        config.writeBigUInt64LE(2n ** 64n - 1n, fee + 8)
        config.writeUInt16LE(basisPoints, fee + 16)
      }
      solana.plant(at, owned(solana, extended(base, 1, 1, config)))
    },
    tokens: (solana, at, { mint, owner, amount }) => {
      const base = Buffer.alloc(165)
      base.set(getAddressEncoder().encode(mint), 0)
      base.set(getAddressEncoder().encode(owner), 32)
      base.writeBigUInt64LE(amount, 64)
      base.writeUInt8(1, 108)
      solana.plant(at, owned(solana, extended(base, 2, 2, Buffer.alloc(8))))
    },
  }
}

describe('Tokens of Token-2022', () => {
  let site: SolanaSwapSite | undefined
  afterEach(async () => {
    await site?.stop()
    site = undefined
  })

  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address

  test('are sold', async () => {
    site = await startSolanaSwapSite({
      token: {
        program,
        mint: (solana, at) => plantMint(solana, at, { decimals: 6, program }),
        tokens: (solana, at, holding) => plantTokens(solana, at, { ...holding, program }),
      },
    })
    const { mint } = site
    site.give(100n * ONE)
    site.api.swap = by((asked) => {
      const [sold, ...paid] = honest(asked)
      if (sold === undefined) throw new Error('an honest program sells')
      const checked = {
        program,
        accounts: sold.accounts.toSpliced(1, 0, { address: mint }),
        data: Buffer.concat([Buffer.from([12]), u64(asked.amount), Buffer.from([6])]),
      }
      return [checked, ...paid]
    })
    expect(await site.run()).toMatchObject({ state: 'swapped', bought: String(worth(100n * ONE)) })
    expect(site.tokens()).toBe(0n)
  }, 30_000)

  test('that keep a part of each transfer are not', async () => {
    site = await startSolanaSwapSite({ token: taxing(200) })
    site.give(100n * ONE)
    expect(await site.run()).toMatchObject({ state: 'refused', code: 'simulation_failed' })
    expect(await site.records()).toEqual([])
  }, 30_000)
})

describe('Between the simulation and the block', () => {
  let site: SolanaSwapSite | undefined
  afterEach(async () => {
    await site?.stop()
    site = undefined
  })

  const isSubmitted = (at: SolanaSwapSite) =>
    until(
      async () => doings(await at.records()),
      (done) => done.at(-1) === 'sell submitted',
    )

  /** What a program does in blocks alone, and what it does while it is watched. */
  test.each<[string, (asked: Asked) => readonly WalletCall[]]>([
    ['pays less', (asked) => honest({ ...asked, amount: asked.amount - asked.amount / 100n }).slice(1)],
    ['pays nothing', () => []],
    ['takes what arrives', (asked) => [...honest(asked).slice(1), setAuthority(asked.coins, 2, THIEF)]],
    [
      'takes coins by a system program that it hides',
      (asked) => [...honest(asked).slice(1), { ...takeCoins(1n), hidden: true }],
    ],
    [
      'leaves an approval and tokens behind',
      (asked) => [
        ...honest(asked).slice(1),
        transferTokens(asked.poolTokens, asked.tokens, asked.vault.address, 1n),
        approve(asked.tokens, THIEF, ONE),
      ],
    ],
  ])(
    'a program that then %s costs a fee alone, and three times a day at most',
    async (_, inBlocks) => {
      const at = await startSolanaSwapSite()
      site = at
      at.give(1_000n * ONE)
      at.api.swap = by((asked) => [
        ...honest(asked).slice(0, 1),
        ...honest(asked)
          .slice(1)
          .map((call) => ({ ...call, when: 'off' as const })),
        ...inBlocks(asked).map((call) => ({ ...call, when: 'on' as const })),
      ])
      for (let failures = 1; failures <= 3; failures += 1) {
        const before = at.lamports()
        at.turn(false)
        at.setBlocks(false)
        const running = at.run()
        await isSubmitted(at)
        at.turn(true)
        at.setBlocks(true)
        expect(await running).toMatchObject({ state: 'ended', message: expect.stringContaining('failed') })
        expect(at.tokens()).toBe(1_000n * ONE)
        const paid = before - at.lamports()
        expect(paid).toBeGreaterThan(0n)
        expect(paid).toBeLessThan(100_000n)
      }
      at.turn(false)
      expect(await at.run()).toMatchObject({ state: 'refused', code: 'too_many_failures' })
    },
    60_000,
  )

  test('a service that ends goes on where it was, and sells once', async () => {
    const dataDir = await createDataDir()
    const at = await startSolanaSwapSite({
      options: { dataDir },
      entry: ({ mint, program }) => ({
        rules: {
          contracts: [SYSTEM_PROGRAM, TOKEN_PROGRAM, program],
          limits: [{ per: 'day', asset: mint, value: String(100n * ONE) }],
        },
      }),
    })
    site = at
    at.give(1_000n * ONE)
    at.setBlocks(false)
    const running = at.run().catch(() => undefined)
    await isSubmitted(at)
    await at.service.stop()
    await running
    const again = await at.start()
    try {
      at.setBlocks(true)
      const outcome = await until(
        () => at.run(again),
        ({ state }) => state !== 'waiting',
      )
      expect(outcome).toMatchObject({ state: 'swapped', sold: String(100n * ONE) })
      expect(doings(await at.records(again))).toEqual(['sell confirmed'])
      expect(at.tokens()).toBe(900n * ONE)
      // The rules of the guide bound what the plugin may sell in a day, whatever its code does.
      expect(await at.run(again)).toMatchObject({ state: 'refused', code: 'rule_violated' })
      expect(at.tokens()).toBe(900n * ONE)
    } finally {
      await again.stop()
    }
  }, 60_000)
})
