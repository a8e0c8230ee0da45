import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { canMountImages } from './test/support/disk/fragile-disk.ts'
import { canMountDisks } from './test/support/disk/small-disk.ts'
import { hasSoftHsm } from './test/support/key-services/softhsm.ts'
import { canLimitMemory } from './test/support/memory-group.ts'
import { hasNats } from './test/support/nats.ts'
import { hasPatroni } from './test/support/patroni.ts'
import { canStartPostgres, hasPostgres } from './test/support/postgres.ts'
import { hasPrometheus } from './test/support/prometheus.ts'
import { hasRedis } from './test/support/redis.ts'

type Settings = NonNullable<TestProjectInlineConfiguration['test']>

/** Settings of every test. `expect.poll` gives up after a second by itself, which is too soon on a busy machine. */
const EVERY_TEST: Settings = {
  retry: 0,
  env: { NODE_ENV: 'test', DO_NOT_TRACK: '1' },
  expect: { poll: { timeout: 20_000 } },
}

/** Settings of tests that start chains, databases and services. */
const SERVICES: Settings = {
  ...EVERY_TEST,
  // Files share two cores with the chains and databases that they start; a third one uses the time in which two wait.
  maxWorkers: 3,
  // Most files are over before better code for the embedded database would pay for the time it takes to make.
  execArgv: ['--liftoff-only'],
}

/** Settings of tests that share a process. */
const SHARED_PROCESS: Settings = {
  ...SERVICES,
  // Tests leave nothing behind in their process. Files share it with what it has loaded and compiled, which takes longer than most of them.
  isolate: false,
  // Most tests take less than one second. On a machine that has other work they take many times as long, and are right all the same.
  testTimeout: 60_000,
  hookTimeout: 60_000,
}

/** The projects whose files have their name as a suffix, such as `kill.faults.test.ts`. */
const BY_SUFFIX = {
  // Files that take more than some five seconds: many random inputs, many blocks, many services. And everything that needs PostgreSQL.
  long: SHARED_PROCESS,
  // Crash points, killed processes, power cuts, random histories and ten thousand deliveries.
  faults: { ...SERVICES, testTimeout: 180_000, hookTimeout: 120_000 },
  // Every type of signer in one conformance suite, and accounts whose key another service holds. The services are installed and started by
  // the tests, which takes Python and a package index.
  signers: { ...EVERY_TEST, maxWorkers: 4, testTimeout: 120_000, hookTimeout: 300_000 },
  // Needs Chromium. A file waits for its browser while another one waits for its service.
  browser: { ...EVERY_TEST, maxWorkers: 2, testTimeout: 60_000, hookTimeout: 120_000 },
  // The package as its users get it: packed, installed into an empty folder, started. Needs the npm registry. Packing compiles everything, and
  // the installation may have to load 230 packages.
  package: { ...EVERY_TEST, testTimeout: 180_000, hookTimeout: 300_000 },
} satisfies Record<string, Settings>

/** What `npm test` runs: the files without one of these suffixes. */
const DEFAULT_PROJECT = 'default'

type Project = typeof DEFAULT_PROJECT | keyof typeof BY_SUFFIX

/** Something that a machine may lack. The files that need it have this suffix before that of their project. */
interface Need {
  readonly suffix: string
  readonly projects: readonly Project[]
  readonly isHere: () => boolean
  readonly missing: string
  /** With this variable set to 1, its absence is an error. */
  readonly required?: string
}

const NEEDS: readonly Need[] = [
  {
    suffix: 'postgres',
    projects: ['long', 'faults'],
    isHere: hasPostgres,
    missing: 'no PostgreSQL: install 15 or newer, or set TEST_DATABASE_URL',
    required: 'REQUIRE_POSTGRES',
  },
  // These start a server themselves, so `TEST_DATABASE_URL` is not enough.
  {
    suffix: 'postgres-server',
    projects: ['long', 'faults'],
    isHere: canStartPostgres,
    missing: 'no program of PostgreSQL 15 or newer',
  },
  {
    suffix: 'patroni',
    projects: ['faults'],
    isHere: hasPatroni,
    missing: 'no Patroni, etcd or PostgreSQL: install the packages patroni and etcd-server',
    required: 'REQUIRE_PATRONI',
  },
  {
    suffix: 'prometheus',
    projects: ['long'],
    isHere: hasPrometheus,
    missing: 'no Prometheus: install the package prometheus',
    required: 'REQUIRE_PROMETHEUS',
  },
  {
    suffix: 'redis',
    projects: ['long'],
    isHere: hasRedis,
    missing: 'no Redis: install the package redis-server',
    required: 'REQUIRE_REDIS',
  },
  {
    suffix: 'nats',
    projects: ['long'],
    isHere: hasNats,
    missing: 'no NATS: install the package nats-server',
    required: 'REQUIRE_NATS',
  },
  {
    suffix: 'softhsm',
    projects: ['signers'],
    isHere: hasSoftHsm,
    missing:
      'no SoftHSM2 or no pkcs11js: install the package softhsm2, and run: npm explore pkcs11js -- npm run build',
    required: 'REQUIRE_SOFTHSM',
  },
  { suffix: 'small-disk', projects: ['faults'], isHere: canMountDisks, missing: 'no right to mount a disk' },
  {
    suffix: 'fragile-disk',
    projects: ['faults'],
    isHere: canMountImages,
    missing: 'no right to mount an image of ext4, or no mkfs.ext4',
  },
  {
    suffix: 'memory-group',
    projects: ['faults'],
    isHere: canLimitMemory,
    missing: 'no right to limit memory',
  },
  {
    suffix: 'root',
    projects: ['long'],
    isHere: () => process.platform === 'linux' && process.getuid?.() === 0,
    missing: 'no right to start processes of another user',
  },
]

/** The projects that the command line names. Without any, each file that it names runs in its own project. */
const named = process.argv.flatMap((argument, index, all) => {
  const [option, value = all[index + 1]] = argument.split('=')
  return option === '--project' && value !== undefined ? [value] : []
})

/** Not a skip: files whose need is absent are not part of the run, and the run says so. */
const absent = NEEDS.filter(({ projects, isHere, missing, suffix, required }) => {
  if ((named.length > 0 && !projects.some((project) => named.includes(project))) || isHere()) return false
  if (required !== undefined && process.env[required] === '1')
    throw new Error(`${required}=1, but there is ${missing}.`)
  process.stdout.write(`Without the tests *.${suffix}.*, because there is ${missing}.\n`)
  return true
}).map(({ suffix }) => `test/**/*.${suffix}.*ts`)

const suffixes = Object.keys(BY_SUFFIX)

const PROJECTS: Readonly<Record<string, Settings>> = {
  [DEFAULT_PROJECT]: {
    ...SHARED_PROCESS,
    include: ['test/**/*.test.ts', 'plugins/**/*.test.ts', 'simulators/**/*.test.ts'],
    exclude: [`test/**/*.{${suffixes.join(',')}}.test.ts`, ...absent],
  },
  ...Object.fromEntries(
    Object.entries(BY_SUFFIX).map(([name, settings]) => [
      name,
      { ...settings, include: [`test/**/*.${name}.test.ts`], exclude: absent },
    ]),
  ),
  // What runs against a node that somebody brings. `npm run conformance` says which.
  ...(process.env.CONFORMANCE_TARGET !== undefined && {
    conformance: {
      ...EVERY_TEST,
      include: ['test/conformance/*.live.ts'],
      fileParallelism: false,
      // A Solana blockhash takes a minute to expire, and the proof that nothing came of it another quarter.
      testTimeout: 300_000,
      hookTimeout: 300_000,
    },
  }),
}

/** The folders and files of tests that `npm run mutate` chose; it knows no projects. */
const mutated = process.env.MUTATION_TESTS?.split(',').filter((path) => path !== '')

const MUTATION: Settings = {
  ...EVERY_TEST,
  include: mutated?.map((path) => (path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`)) ?? [],
  exclude: [`test/**/*.{${suffixes.join(',')}}.test.ts`, ...absent],
  testTimeout: 30_000,
  hookTimeout: 60_000,
  isolate: false,
}

export default defineConfig({
  test:
    mutated !== undefined
      ? MUTATION
      : {
          projects: Object.entries(PROJECTS).map(([name, settings], groupOrder) => ({
            // Projects have different numbers of workers, so they run one after the other.
            test: { ...settings, name, sequence: { groupOrder } },
          })),
        },
})
