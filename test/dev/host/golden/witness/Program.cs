// What the SQL extension makes of a server's rows, one JSON line for each command: a DataTable filled by a SqlDataAdapter of
// Microsoft.Data.SqlClient, serialized by Newtonsoft.Json with the extension's date format (SqlConverters.cs).
// Arguments: host,port user password, then the commands.
using System.Data;
using System.Text;
using Microsoft.Data.SqlClient;
using Newtonsoft.Json;

Console.OutputEncoding = new UTF8Encoding(false);
var settings = new JsonSerializerSettings { DateFormatString = "yyyy-MM-ddTHH:mm:ss.fffZ" };
var builder = new SqlConnectionStringBuilder
{
    DataSource = args[0], UserID = args[1], Password = args[2], Encrypt = SqlConnectionEncryptOption.Optional, ConnectTimeout = 10,
};
using var connection = new SqlConnection(builder.ConnectionString);
connection.Open();
foreach (var text in args[3..])
{
    string result;
    try
    {
        var table = new DataTable();
        using var adapter = new SqlDataAdapter(new SqlCommand(text, connection));
        adapter.Fill(table);
        result = JsonConvert.SerializeObject(table, settings);
    }
    catch (Exception e) { result = $"{e.GetType().Name}: {e.Message}"; }
    Console.WriteLine(JsonConvert.SerializeObject(new { command = text, result }));
}
