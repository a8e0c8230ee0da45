/**
 * The first release line of Node.js with everything that the service uses; `engines` in package.json says the
 * same.
 */
const LEAST_MAJOR = 24

/**
 * Returns a sentence for a Node.js that is too old, such as `20.20.2`; undefined for one that the service
 * runs on.
 */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(version.split('.', 1)[0])
  return major >= LEAST_MAJOR
    ? undefined
    : `relayer needs Node.js ${LEAST_MAJOR} or later, and this is ${version}. In a clone of the repository, npm start uses the right one, which npm ci installed; elsewhere install Node.js ${LEAST_MAJOR}.`
}
