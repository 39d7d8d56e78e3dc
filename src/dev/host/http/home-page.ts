/** What the root says, as in Azure, unless a function has that route or AzureWebJobsDisableHomepage is true. */
export const homePage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Function app</title></head>
<body><h1>Your function app is up and running</h1><p>Its functions are listed where it was started.</p></body>
</html>
`;
