/** The version of this package, as in package.json: messages to operators name it. */
export const VERSION = '0.1.0';
