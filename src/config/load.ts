import { join, resolve } from 'node:path'
import { ConfigError, MissingConfigError, openReader, type Reader, whole } from '../lib/fields.ts'
import { deepFreeze } from '../lib/object.ts'
import { readSignIn } from '../sign-in/settings.ts'
import { readNotifications, readRelayers, readSigners } from './entries.ts'
import { misplacedVariables, readEnvFile } from './env-file.ts'
import { readEnvironment, unknownNames } from './environment.ts'
import { knownNetworks, readNetworks } from './networks.ts'
import { readPluginHostSettings, readPlugins } from './plugins.ts'
import { checkReferences } from './references.ts'
import { parseFile, readSecretField, readText, type Sources } from './sources.ts'
import type { Config } from './types.ts'

export type { Config } from './types.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads the environment and the configuration file into one frozen object. Of all other files, only
 * `api-access.ts` reads `process.env`. The file is `CONFIG_FILE_NAME` (default `config.json`) in `CONFIG_DIR`
 * (default `./config`). A file `.env` in the same folder adds variables that the environment does not have.
 *
 * Files of existing deployments work unchanged: `rpc_urls` are texts or `{ url, weight }`; `networks` is a
 * list, a folder, or absent (then it is the folder `networks` beside the file); `from` names a parent;
 * amounts are numbers or decimal strings. The fields `gas_price_cache` and `include_revert_data` have no
 * effect.
 *
 * @throws MissingConfigError if there is no file
 * @throws UnreadableConfigError if it may not be read
 * @throws ConfigError with everything that is wrong, and no secret
 */
export function loadConfig(env: Env = process.env, cwd: string = process.cwd()): Config {
  const folder = resolve(cwd, env.CONFIG_DIR || 'config')
  const file = join(folder, env.CONFIG_FILE_NAME || 'config.json')
  const text = readText(file)
  if (text === undefined) throw new MissingConfigError(file)

  const problems: string[] = []
  const complete = { ...readEnvFile(join(folder, '.env'), file), ...present(env) }
  const sources: Sources = { env: complete, folder, cwd, referred: new Set() }
  const settings = readEnvironment(complete, cwd, problems)
  const isRemote = settings.pluginHost !== undefined
  const lists = readLists({ file, text }, { ...sources, isRemote }, problems)
  problems.push(...checkReferences(lists), ...unknownNames(complete, sources.referred))
  if (problems.length > 0) {
    const missing = ['API_KEY', ...sources.referred].filter((name) => !complete[name])
    problems.push(...misplacedVariables(missing, { cwd, folder }))
    throw new ConfigError(problems)
  }
  return deepFreeze({ file, ...settings, ...lists })
}

type Lists = Pick<
  Config,
  | 'networks'
  | 'relayers'
  | 'apiMayRelax'
  | 'signers'
  | 'notifications'
  | 'plugins'
  | 'signIn'
  | 'secondPerson'
>

function readLists(
  { file, text }: { readonly file: string; readonly text: string },
  { isRemote, ...sources }: Sources & { readonly isRemote: boolean },
  problems: string[],
): Lists {
  const content = parseFile(text, file, problems)
  const reader = content === undefined ? undefined : openReader(content, '', problems)
  if (!reader)
    return { networks: [], relayers: [], apiMayRelax: [], signers: [], notifications: [], plugins: [] }

  const { relayers, apiMayRelax } = readRelayers(reader, sources, problems)
  const described = readNetworks(reader, sources, problems)
  const lists = {
    relayers,
    apiMayRelax,
    signers: readSigners(reader, sources, problems),
    notifications: readNotifications(reader, sources, problems),
    networks: [...described, ...knownNetworks(relayers, described, problems)],
    plugins: readPlugins(reader, sources, { problems, isRemote }),
    ...readPeople(reader, sources),
  }
  // Editors find the schema of the file by this field.
  reader.ignore('$schema')
  reader.finish()
  return lists
}

/** Hours until a proposal expires: by default a day, so that the second person can be asleep. */
const PROPOSAL_HOURS = { standard: 24, longest: 720 }

/** Reads how people sign in, and what takes two of them. */
function readPeople(reader: Reader, sources: Sources): Pick<Config, 'signIn' | 'secondPerson'> {
  const entry = reader.object('sign_in')
  const signIn =
    entry &&
    readSignIn(entry, {
      secretOf: (of, key) => readSecretField(of, key, sources),
      publicUrl: sources.env.RELAYER_PUBLIC_URL,
    })
  const second = reader.object('second_person')
  if (second === undefined) return signIn ? { signIn } : {}
  const hours = second.find('expires_hours', whole(1, PROPOSAL_HOURS.longest)) ?? PROPOSAL_HOURS.standard
  second.finish()
  if (signIn === undefined) second.problem('needs sign_in: an API key does not tell who uses it')
  if (!sources.env.STORAGE_ENCRYPTION_KEY)
    second.problem('needs STORAGE_ENCRYPTION_KEY: changes that wait can contain secrets')
  return { ...(signIn && { signIn }), secondPerson: { expiresMs: hours * 3_600_000 } }
}

/**
 * Reads what a host of plugins needs: the list `plugins` of the file, and no setting of the service.
 *
 * @throws MissingConfigError if there is no file
 * @throws ConfigError with everything that is wrong
 */
export function loadPluginHost(env: Env = process.env, cwd: string = process.cwd()) {
  const folder = resolve(cwd, env.CONFIG_DIR || 'config')
  const file = join(folder, env.CONFIG_FILE_NAME || 'config.json')
  const text = readText(file)
  if (text === undefined) throw new MissingConfigError(file)
  const problems: string[] = []
  const complete = { ...readEnvFile(join(folder, '.env'), file), ...present(env) }
  const sources: Sources = { env: complete, folder, cwd, referred: new Set() }
  const content = parseFile(text, file, problems)
  const reader = content === undefined ? undefined : openReader(content, '', problems)
  const plugins = reader === undefined ? [] : readPlugins(reader, sources, { problems, isRemote: false })
  const settings = readPluginHostSettings(complete, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return deepFreeze({ ...settings, plugins })
}

/** An empty variable counts as absent: some deployments cannot unset one. */
function present(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
}
