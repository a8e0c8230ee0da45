/**
 * The first release of Node.js with everything that the service uses (`shouldUpgradeCallback` of its HTTP
 * server); `engines` in package.json says the same.
 */
const LEAST = { major: 24, minor: 9 }

/**
 * Returns a sentence for a Node.js that is too old, such as `20.20.2`; undefined for one that the service
 * runs on.
 */
export function nodeVersionProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const needed = `${LEAST.major}.${LEAST.minor}`
  return major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)
    ? undefined
    : `relayer needs Node.js ${needed} or later, and this is ${version}. In a clone of the repository, npm start uses the right one, which npm ci installed; elsewhere install Node.js ${needed}.`
}
