import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run as runCommand } from '../../src/cli/run.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { solanaAddress, stellarAddress } from '../../src/signers/ed25519.ts'
import { createKey, createSeparateKey } from '../../src/signers/key.ts'
import { decryptKeystore } from '../../src/signers/keystore.ts'
import { evmAddress } from '../../src/signers/secp256k1.ts'
import { EARLIER_DATABASE } from '../database/conformance.ts'
import { relayer } from './spawn.ts'

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** A folder in which `init` has run; tests take copies of it. */
let initialized: string
let cwd: string

beforeAll(async () => {
  initialized = await mkdtemp(join(tmpdir(), 'relayer-cli-'))
  await relayer({ cwd: initialized, args: ['init'] })
})
afterAll(() => rm(initialized, { recursive: true }))
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'relayer-cli-'))
})
afterEach(() => rm(cwd, { recursive: true }))

const run = (...args: string[]) => relayer({ cwd, args })
const copyInitialized = () => cp(initialized, cwd, { recursive: true })

/** The command line without a process of its own, for what touches nothing outside. */
async function call(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(args, { out: (line) => out.push(line), err: (line) => err.push(line) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const read = (path: string) => readFile(join(cwd, path), 'utf8')
const modeOf = async (path: string) => ((await stat(join(cwd, path))).mode & 0o777).toString(8)

describe('help', () => {
  test.each<[string[], number]>([
    [[], 2],
    [['--help'], 0],
    [['-h'], 0],
    [['help'], 0],
  ])('%j lists every command and exits %i', async (args, code) => {
    const outcome = await call(args)
    expect(outcome.code).toBe(code)
    for (const name of [
      'serve',
      'init',
      'keys create',
      'keys import',
      'keys show',
      'keys change-passphrase',
      'keys import-to',
      'reset',
      'health',
      'check-config',
      'import engine-v2',
      'import openzeppelin',
      'import defender',
      'import kora',
      'migrate',
      'tx decide',
    ]) {
      expect(outcome.out).toContain(`  ${name} `)
    }
    expect(outcome.out).toContain('Exit codes: 0')
  })

  test.each(
    [
      ['serve'],
      ['init'],
      ['keys', 'create'],
      ['keys', 'import'],
      ['keys', 'show'],
      ['keys', 'change-passphrase'],
      ['keys', 'import-to'],
      ['reset'],
      ['health'],
      ['check-config'],
      ['import', 'engine-v2'],
      ['import', 'openzeppelin'],
      ['import', 'defender'],
      ['import', 'kora'],
      ['migrate'],
      ['tx', 'decide'],
    ].map((name) => [name]),
  )('of %j tells its usage', async (name) => {
    const { code, out } = await call([...name, '--help'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: relayer ${name.join(' ')}`))
  })
})

describe('wrong arguments exit with 2 and a hint', () => {
  test.each<[string[], string]>([
    [['serv'], 'There is no command "serv" (did you mean "serve"?). relayer --help lists all commands.'],
    [['sevre'], 'There is no command "sevre" (did you mean "serve"?).'],
    [['keys', 'shwo'], 'There is no command "keys shwo" (did you mean "keys show"?).'],
    [
      ['keys'],
      'There is no command "keys"; there are keys create, keys import, keys show, keys change-passphrase, keys import-to.',
    ],
    [
      ['import'],
      'There is no command "import"; there are import engine-v2, import openzeppelin, import defender, import kora.',
    ],
    [['import', 'defendr'], '(did you mean "import defender"?)'],
    [['import', 'defender'], 'Name the file: relayer import defender'],
    [['import', 'kora'], 'Name the file: relayer import kora'],
    [['import', 'openzeppelin'], 'Name the file: relayer import openzeppelin'],
    [['import', 'engine-v2', '--chains', 'polygon'], '--chains: expected chain ids'],
    [['import', 'engine-v2', KEY], 'Usage: relayer import engine-v2'],
    [['check-config', '--prod'], 'Usage: relayer check-config [--production]'],
    [['keys', 'list'], 'There is no command "keys list"; there are keys create'],
    [[KEY], 'There is no command. relayer --help'],
    [['keys', KEY], 'There is no command; there are keys create'],
    [['serve', '--port', '1'], 'the port from APP_PORT'],
    [['keys', 'show'], 'Name the key file'],
    [['keys', 'change-passphrase', 'a.json'], 'Name the key file and the new passphrase'],
    [['keys', 'import-to', 'treasury'], 'Name the signer and the key file'],
    [['keys', 'import-to', 'treasury', 'a.json', '--network-type', 'tron'], 'is one of evm, stellar, solana'],
    [['init', 'a', 'b'], 'Usage: relayer init [folder]'],
    [['migrate', '--force'], 'Usage: relayer migrate'],
    [['tx', 'decide', 'x'], 'Pass either --included or --not-included'],
    [['tx', 'decide', 'x', '--included', '--not-included'], 'Pass either'],
    [['tx', 'decide', 'x', '--included'], 'Describe the observation'],
    [['tx', 'decide', 'x', '--not-included', '--reason', 'r', '--attempt', '1'], 'needs --included'],
    [['tx', 'decide', '--included'], 'Name the transaction'],
    [['keys', 'create'], 'Name the file to write'],
    [['keys', 'import', KEY], 'does not belong on the command line'],
    [['keys', 'import', 'a.json', KEY], 'Usage: relayer keys import'],
    [['keys', 'import', 'a.json', `--${KEY}`], 'Usage: relayer keys import'],
  ])('%j', async (args, hint) => {
    const { code, out, err } = await call(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(hint)
    expect(err).not.toContain(KEY)
  })
})

test.each(['--version', '-v'])('%s prints the version of package.json', async (flag) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(await call([flag])).toEqual({ code: 0, out: version, err: '' })
})

describe('serve', () => {
  test('with no configuration says in three lines what is missing and how to get it', async () => {
    const { code, out, err } = await run('serve')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    const lines = err.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toContain(join(cwd, 'config/config.json'))
    expect(lines[2]).toContain('npm run relayer -- init')
  })
})

describe('init', () => {
  test('makes a private folder that check-config accepts, and tells the next commands', async () => {
    const { code, out } = await run('init')
    expect(code).toBe(0)
    const modes = await Promise.all(
      ['config', 'config/.env', 'config/keys/local.json', 'config/keys/local.passphrase'].map(modeOf),
    )
    expect(modes).toEqual(['700', '600', '600', '600'])
    expect(out).toContain('npm start')
    const apiKey = /^API_KEY=(\S{32,})$/m.exec(await read('config/.env'))?.[1]
    const passphrase = (await read('config/keys/local.passphrase')).trim()
    const sealingKey = /^STORAGE_ENCRYPTION_KEY=(\S+)$/m.exec(await read('config/.env'))?.[1]
    expect(apiKey).toBeDefined()
    expect(Buffer.from(sealingKey ?? '', 'base64')).toHaveLength(32)
    expect(out).not.toContain(apiKey)
    expect(out).not.toContain(sealingKey)
    expect(out).not.toContain(passphrase)

    const checked = await run('check-config')
    expect(checked).toMatchObject({ code: 0, err: '' })
    const address = /0x[0-9a-fA-F]{40}/.exec(out)?.[0]
    expect(checked.out).toContain(`relayer local-1: ${address} on anvil`)
  })

  test('takes another folder, which CONFIG_DIR names', async () => {
    const { out } = await run('init', 'my relayer/')
    expect(out).toContain("CONFIG_DIR='my relayer' npm start")
    const checked = await relayer({ cwd, args: ['check-config'], env: { CONFIG_DIR: 'my relayer' } })
    expect(checked.code).toBe(0)
  })

  test.each(['config.json', '.env', 'keys/local.json', 'keys/local.passphrase'])(
    'overwrites nothing when %s is there, and writes nothing else',
    async (file) => {
      await copyInitialized()
      const kept = await read(`config/${file}`)
      const others = ['config.json', '.env', 'keys/local.json', 'keys/local.passphrase'].filter(
        (name) => name !== file,
      )
      for (const other of others) await rm(join(cwd, 'config', other))
      const { code, err } = await run('init')
      expect(code).toBe(2)
      expect(err).toContain(`config/${file}`)
      expect(await read(`config/${file}`)).toBe(kept)
      for (const other of others) await expect(stat(join(cwd, 'config', other))).rejects.toThrow('ENOENT')
    },
  )
})

describe('check-config', () => {
  test('prints one list of everything wrong, exits 2, and shows no stack and no secret', async () => {
    await copyInitialized()
    const config = JSON.parse(await read('config/config.json'))
    config.relayers[0].signer_id = 'nobody'
    config.signers[0].config.passphrase = { type: 'plain', value: 'HIDE' }
    config.extra = true
    await writeFile(join(cwd, 'config/config.json'), JSON.stringify(config))
    const { code, out, err } = await run('check-config')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.trimEnd().split('\n')).toEqual([
      'The configuration cannot be used:',
      '  - extra is not known',
      '  - relayer "local-1" refers to the signer "nobody", which does not exist',
    ])
  })

  test('takes a well-known network that nothing describes', async () => {
    await copyInitialized()
    const { networks: _, ...config } = JSON.parse(await read('config/config.json'))
    config.relayers[0].network = 'sepolia'
    await writeFile(join(cwd, 'config/config.json'), JSON.stringify(config))
    const { code, out } = await run('check-config')
    expect(code).toBe(0)
    expect(out).toMatch(/relayer local-1: 0x[0-9a-fA-F]{40} on sepolia/)
  })

  test.each<[string, (file: string) => Promise<unknown>, string]>([
    ['is empty', (file) => writeFile(file, ' \n'), 'config.json is empty'],
    ['is a folder', (file) => mkdir(file), 'cannot be read (EISDIR): it is a folder, not a file.'],
  ])('says so when the file %s', async (_what, make, sentence) => {
    await mkdir(join(cwd, 'config'))
    await make(join(cwd, 'config/config.json'))
    const { code, err } = await run('check-config')
    expect(code).toBe(2)
    expect(err).toContain(sentence)
  })

  test('opens the keys, too', async () => {
    await copyInitialized()
    await writeFile(join(cwd, 'config/keys/local.passphrase'), 'HIDE\n')
    const { code, err } = await run('check-config')
    expect(code).toBe(2)
    expect(err).toContain('keys/local.json cannot be read: the passphrase is wrong')
    expect(err).not.toContain('HIDE')
  })
})

describe('keys', () => {
  test('created are encrypted with a generated passphrase', async () => {
    const { code, out } = await run('keys', 'create', 'keys/hot.json')
    expect(code).toBe(0)
    expect(await Promise.all([modeOf('keys/hot.json'), modeOf('keys/hot.passphrase')])).toEqual([
      '600',
      '600',
    ])
    const key = await decryptKeystore(await read('keys/hot.json'), (await read('keys/hot.passphrase')).trim())
    expect(key).toHaveLength(32)
    expect(out).not.toContain(Buffer.from(key).toString('hex'))
    expect(JSON.parse(await read('keys/hot.json'))['x-relayer']).toEqual({ derivation: 'network_type' })
    const { evm, stellar, solana } = createSeparateKey('hot', key)
    expect(out).toContain(`address     ${evmAddress(evm.publicKey)}\n`)
    expect(out).toContain(`stellar     ${stellarAddress(stellar.publicKey)}\n`)
    expect(out).toContain(`solana      ${solanaAddress(solana.publicKey)}\n`)
  })

  test.each<[string, string[], string]>([
    ['standard input', [], `0x${KEY}\n`],
    ['a file', ['--key-file', 'raw.key'], ''],
  ])('imported from %s come back with the given passphrase', async (_how, options, input) => {
    await writeFile(join(cwd, 'raw.key'), KEY)
    await writeFile(join(cwd, 'pass'), 'my passphrase\nsecond line\n', { mode: 0o600 })
    const args = ['keys', 'import', 'hot.json', '--passphrase-file', 'pass', ...options]
    const { code, out, err } = await relayer({ cwd, args, input })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(ADDRESS)
    expect(out + err).not.toContain(KEY)
    const key = await decryptKeystore(await read('hot.json'), 'my passphrase')
    expect(Buffer.from(key).toString('hex')).toBe(KEY)
    // The addresses of an imported key are those that its owner knows.
    expect(JSON.parse(await read('hot.json'))).not.toHaveProperty('x-relayer')
    expect(out).toContain(`stellar     ${stellarAddress(createKey('hot', key).stellar.publicKey)}\n`)
  })

  test.each<[string, string[], string, string]>([
    ['text that is no key', [], 'HIDE', 'is not a private key'],
    ['nothing', [], '', 'is not a private key'],
    ['an encrypted key file', [], '{ "crypto": { "x": "HIDE" } }', 'is already an encrypted key file'],
    ['a mnemonic', [], `${'hide '.repeat(11)}hide`, 'is a mnemonic'],
    ['a file that is not there', ['--key-file', 'none'], '', 'none cannot be read (ENOENT)'],
  ])('are not imported from %s', async (_what, options, input, message) => {
    const { code, err } = await relayer({ cwd, args: ['keys', 'import', 'hot.json', ...options], input })
    expect(code).toBe(2)
    expect(err).toContain(message)
    expect(err).not.toContain('HIDE')
    expect(await readdir(cwd)).toEqual([])
  })

  test('are shown by their addresses, with the passphrase beside them', async () => {
    const created = await run('keys', 'create', 'hot.json')
    const { code, out, err } = await run('keys', 'show', 'hot.json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(created.out).toContain(out)
    await writeFile(join(cwd, 'wrong'), 'another passphrase\n', { mode: 0o600 })
    const wrong = await run('keys', 'show', 'hot.json', '--passphrase-file', 'wrong')
    expect(wrong).toMatchObject({
      code: 2,
      out: '',
      err: 'hot.json cannot be opened: the passphrase is wrong.\n',
    })
    const missing = await run('keys', 'show', 'hot.json', '--passphrase-file', 'none')
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('none cannot be read (ENOENT)') })
  })

  test.each<[string, readonly string[]]>([
    ['created', []],
    ['imported', ['--key-file', 'raw.key']],
  ])('%s get another passphrase, and keep their addresses and mode', async (how, options) => {
    await writeFile(join(cwd, 'raw.key'), KEY)
    await run('keys', how === 'created' ? 'create' : 'import', 'hot.json', ...options)
    const before = await run('keys', 'show', 'hot.json')
    const args = ['hot.json', '--new-passphrase-file', 'new.passphrase']
    const { code, err } = await run('keys', 'change-passphrase', ...args)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(await run('keys', 'show', 'hot.json')).toMatchObject({ code: 2 })
    const after = await run('keys', 'show', 'hot.json', '--passphrase-file', 'new.passphrase')
    expect(after).toEqual(before)
    expect(await Promise.all([modeOf('hot.json'), modeOf('new.passphrase')])).toEqual(['600', '600'])
    expect((await readdir(cwd)).toSorted()).toEqual([
      'hot.json',
      'hot.passphrase',
      'new.passphrase',
      'raw.key',
    ])
  })

  test('get a warning about a passphrase that others can read or guess', async () => {
    await writeFile(join(cwd, 'pass'), 'HIDE\n', { mode: 0o644 })
    const { code, err } = await run('keys', 'create', 'hot.json', '--passphrase-file', 'pass')
    expect(code).toBe(0)
    expect(err).toContain('warning: other users can read pass (mode 644): chmod 600 pass')
    expect(err).toContain('warning: the passphrase in pass has fewer than 12 characters')
    expect(err).not.toContain('HIDE')
  })

  test('are never overwritten', async () => {
    await run('keys', 'create', 'hot.json')
    const kept = await read('hot.json')
    const { code, err } = await run('keys', 'create', 'hot.json')
    expect(code).toBe(2)
    expect(err).toContain('Existing files are never overwritten')
    expect(await read('hot.json')).toBe(kept)
  })
})

describe('migrate', () => {
  test('fills an empty data folder once', async () => {
    await copyInitialized()
    expect(await run('migrate')).toMatchObject({ code: 0, err: '' })
    expect(await run('migrate')).toMatchObject({ code: 0, err: '', out: 'the tables are up to date\n' })
    expect(await modeOf('data')).toBe('700')
  }, 60_000)

  test('names what it has applied to a database without tables', async () => {
    await copyInitialized()
    await mkdir(join(cwd, 'data'))
    await (await PGlite.create({ dataDir: join(cwd, 'data/pglite') })).close()
    expect(await run('migrate')).toMatchObject({
      code: 0,
      err: '',
      out: `applied: ${Object.keys(migrations).join(', ')}\n`,
    })
  }, 60_000)

  test('fails with one line and exit code 1 when the database is not there', async () => {
    await copyInitialized()
    const env = { DATABASE_URL: 'postgres://user:HIDE@127.0.0.1:1/x', RELAYER_DATABASE_WAIT_SECONDS: '0' }
    const { code, out, err } = await relayer({ cwd, args: ['migrate'], env })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('The PostgreSQL server of DATABASE_URL cannot be reached: connect ECONNREFUSED')
    expect(err).toContain('Start it, or correct host and port')
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect(err).not.toContain('HIDE')
  })
})

describe('a database from before the first release', () => {
  let dataDir: string
  const open = () => PGlite.create({ dataDir: join(dataDir, 'pglite') })

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'relayer-earlier-'))
    const database = await open()
    for (const statement of EARLIER_DATABASE) await database.exec(statement)
    await database.close()
  }, 60_000)
  afterAll(() => rm(dataDir, { recursive: true }))

  test.each([
    [['migrate']],
    [['serve']],
    [['audit', 'verify']],
    [['tx', 'decide']],
    [['reset', 'anvil']],
    [['change-storage-key', '--new-key-file', 'new.key']],
  ])(
    'is explained by %j, which ends with 1',
    async (args) => {
      await copyInitialized()
      const { code, err } = await relayer({ cwd, args, env: { DATA_DIR: dataDir } })
      expect(code).toBe(1)
      expect(err).toMatch(/^This database was made by a version before the first release.*\n$/)
    },
    60_000,
  )

  test('is left as it is by all of them', async () => {
    const database = await open()
    const { rows } = await database.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by 1",
    )
    await database.close()
    expect(rows.map(({ name }) => name)).toEqual(['relayers', 'schema_migrations', 'schema_migrations_lock'])
  }, 60_000)
})

test('tx decide lists what waits for a decision, and decides about nothing else', async () => {
  await copyInitialized()
  expect(await run('tx', 'decide')).toMatchObject({
    code: 0,
    out: 'no transaction waits for a decision\n',
    err: '',
  })
  const refused = await run('tx', 'decide', 'nobody', '--not-included', '--reason', 'seen in the explorer')
  expect(refused).toMatchObject({ code: 2, out: '', err: 'There is no transaction with this id.\n' })
}, 60_000)
